#!lua
-- Counts hits, and returns those of others. Each client of each limit is a hash: its fields are slots of Valkey's time,
-- its values the hits of all instances in them.
-- KEYS: the epoch, the instances, and one hash for each client.
-- ARGV: this instance, and for each hash "window_seconds hits" and a position, "slot total epoch".
-- Returns the epoch and the number of instances, and for each hash a line: the slot and total of its position, and the
-- hits of others since the position that was given, "age_us hits age_us hits …", oldest first.
local SLOTS = 240
local FORGET_INSTANCE_SECONDS = 5
local DAY_SECONDS = 86400

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Data that was lost has another epoch: then the positions that instances have mean nothing.
local epoch = redis.call('GET', KEYS[1])
if not epoch then
  epoch = string.format('%.0f', now)
  redis.call('SET', KEYS[1], epoch)
end
redis.call('EXPIRE', KEYS[1], 2 * DAY_SECONDS)

redis.call('ZADD', KEYS[2], time[1], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', time[1] - FORGET_INSTANCE_SECONDS)
redis.call('EXPIRE', KEYS[2], FORGET_INSTANCE_SECONDS * 2)

local function slots_since(key, first, last)
  local found = {}
  if last - first < 4 then
    for slot = first, last do
      local hits = redis.call('HGET', key, slot)
      if hits then found[#found + 1] = {slot, tonumber(hits)} end
    end
    return found
  end
  local all = redis.call('HGETALL', key)
  for at = 1, #all, 2 do
    local slot = tonumber(all[at])
    if slot >= first and slot <= last then found[#found + 1] = {slot, tonumber(all[at + 1])} end
  end
  table.sort(found, function(one, other) return one[1] < other[1] end)
  return found
end

local function remove_old(key, first)
  local old = {}
  for _, slot in ipairs(redis.call('HKEYS', key)) do
    if tonumber(slot) < first then old[#old + 1] = slot end
  end
  if #old > 0 then redis.call('HDEL', key, unpack(old)) end
end

local lines = {epoch .. ' ' .. redis.call('ZCARD', KEYS[2])}
for at = 3, #KEYS do
  local key = KEYS[at]
  local window, hits, position_slot, position_total, position_epoch =
    string.match(ARGV[at - 1], '(%S+) (%S+) (%S+) (%S+) (%S+)')
  local width = window * 1000000 / SLOTS
  local slot = math.floor(now / width)
  local oldest = slot - SLOTS + 1
  position_slot, position_total = tonumber(position_slot), tonumber(position_total)
  -- 0: everything, -1: nothing, as after a step back of Valkey's clock.
  local is_from_now = position_slot < 0 or position_slot > slot or (position_slot > 0 and position_epoch ~= epoch)
  local line = {}
  local total = 0
  for _, each in ipairs(slots_since(key, is_from_now and slot or math.max(position_slot, oldest), slot)) do
    local others = each[2]
    if each[1] == slot then total = others end
    if each[1] == position_slot then others = others - position_total end
    if others ~= 0 and not is_from_now then
      line[#line + 1] = string.format('%.0f %d', math.max(0, now - (each[1] + 1) * width), others)
    end
  end
  if hits ~= '0' then
    total = redis.call('HINCRBY', key, slot, hits)
    if total == tonumber(hits) then -- probably the first in this slot
      remove_old(key, oldest)
      redis.call('EXPIRE', key, window + math.ceil(width / 1000000))
    end
  end
  table.insert(line, 1, string.format('%.0f %d', slot, total))
  lines[#lines + 1] = table.concat(line, ' ')
end
return table.concat(lines, '\n')
