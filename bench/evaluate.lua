-- Every request asks for another user. Arguments: the method, the SDK key, the number of the first user, and
-- "attributes" for a context with three custom attributes: one of 20 countries, 4 plans and 20 versions.
local user, has_attributes

function init(arguments)
  wrk.method = arguments[1]
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["X-SDK-Key"] = arguments[2]
  user = tonumber(arguments[3])
  has_attributes = arguments[4] == "attributes"
end

function request()
  user = user + 1
  local attributes = ""
  if has_attributes then
    attributes = string.format(
      ',"custom_attributes":{"country":"country-%d","plan":"plan-%d","app_version":"1.%d.0"}',
      user % 20, math.floor(user / 20) % 4, math.floor(user / 80) % 20)
  end
  return wrk.format(nil, nil, nil, string.format(
    '{"environment":"production","context":{"user_id":"user-%08d","user_email":"user@example.org"%s}}', user, attributes))
end
