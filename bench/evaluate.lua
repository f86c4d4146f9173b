-- Every request asks for another user. Arguments: the method, the SDK key, the number of the first user.
local user

function init(arguments)
  wrk.method = arguments[1]
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["X-SDK-Key"] = arguments[2]
  user = tonumber(arguments[3])
end

function request()
  user = user + 1
  return wrk.format(nil, nil, nil, string.format(
    '{"environment":"production","context":{"user_id":"user-%08d","user_email":"user@example.org"}}', user))
end
