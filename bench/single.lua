-- Evaluates one flag in each request, as server providers of OpenFeature do, at a steady rate.
-- Arguments: the key of the environment, the number of flags, and the milliseconds that each connection waits.
local flags, wait = 1, 0

function init(arguments)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["X-API-Key"] = arguments[1]
  flags, wait = tonumber(arguments[2]), tonumber(arguments[3])
end

function delay()
  return wait
end

function request()
  return wrk.format(nil, string.format("/ofrep/v1/evaluate/flags/flag-%04d", math.random(0, flags - 1)), nil,
    string.format('{"context":{"targetingKey":"user-%d"}}', math.random(200000)))
end
