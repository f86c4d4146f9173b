-- Every request asks for another user. Arguments: the method, the SDK key, the number of the first user, and
-- "attributes" for a context with three custom attributes: one of 20 countries, 4 plans and 20 versions;
-- "ofrep" for requests by OFREP.
local user, has_attributes, is_ofrep

function init(arguments)
  wrk.method = arguments[1]
  wrk.headers["Content-Type"] = "application/json"
  is_ofrep = arguments[4] == "ofrep"
  wrk.headers[is_ofrep and "X-API-Key" or "X-SDK-Key"] = arguments[2]
  user = tonumber(arguments[3])
  has_attributes = arguments[4] == "attributes"
end

function request()
  user = user + 1
  if is_ofrep then
    return wrk.format(nil, nil, nil, string.format(
      '{"context":{"targetingKey":"user-%08d","email":"user@example.org"}}', user))
  end
  local attributes = ""
  if has_attributes then
    attributes = string.format(
      ',"custom_attributes":{"country":"country-%d","plan":"plan-%d","app_version":"1.%d.0"}',
      user % 20, math.floor(user / 20) % 4, math.floor(user / 80) % 20)
  end
  return wrk.format(nil, nil, nil, string.format(
    '{"environment":"production","context":{"user_id":"user-%08d","user_email":"user@example.org"%s}}', user, attributes))
end
