-- Requests are made before the load begins, because making them takes longer than nginx takes to answer. Each is of
-- another user, with an address, a domain, a country, a plan and a version of their own.
-- Arguments: the method, the SDK key, the number of the first user, and "ofrep" for requests by OFREP.
local REQUESTS = 20000
local requests, sent = {}, 0

local function body_of(user, is_ofrep)
  local id, address = string.format("user-%08d", user), string.format("user-%d@team-%d.example.org", user, user % 977)
  local attributes = string.format('"country":"country-%d","plan":"plan-%d","app_version":"%d.%d.%d"',
    user % 20, math.floor(user / 20) % 4, user % 3 + 1, math.floor(user / 80) % 20, user % 7)
  if is_ofrep then
    return string.format('{"context":{"targetingKey":"%s","email":"%s",%s}}', id, address, attributes)
  end
  return string.format('{"environment":"production","context":{"user_id":"%s","user_email":"%s","custom_attributes":{%s}}}',
    id, address, attributes)
end

function init(arguments)
  local is_ofrep = arguments[4] == "ofrep"
  wrk.method = arguments[1]
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers[is_ofrep and "X-API-Key" or "X-SDK-Key"] = arguments[2]
  for place = 1, REQUESTS do
    requests[place] = wrk.format(nil, nil, nil, body_of(tonumber(arguments[3]) + place, is_ofrep))
  end
end

function request()
  sent = sent % REQUESTS + 1
  return requests[sent]
end
