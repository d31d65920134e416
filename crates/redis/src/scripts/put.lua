-- Puts a record if its version matches, and reports the change.
-- KEYS: record, index. ARGV: now, condition, value with its head, lifetime, name in the index, channel, key.
-- Returns 1, or the version that was found: empty for an absent record.
local head = redis.call('GETRANGE', KEYS[1], 0, 15)
local found = ''
if #head == 16 and struct.unpack('>I8', head, 9) > tonumber(ARGV[1]) then
  found = string.sub(head, 1, 8)
end
local condition = ARGV[2]
if (condition == '-' and found ~= '') or (#condition == 8 and condition ~= found) then
  return found
end
local lifetime = ARGV[4]
if lifetime == '' then
  redis.call('SET', KEYS[1], ARGV[3])
else
  redis.call('SET', KEYS[1], ARGV[3], 'PX', lifetime)
end
local name = ARGV[5]
if name ~= '' then
  -- The index lives as long as its longest record.
  local left = redis.call('PTTL', KEYS[2])
  redis.call('ZADD', KEYS[2], 0, name)
  if lifetime == '' then
    if left >= 0 then redis.call('PERSIST', KEYS[2]) end
  elseif left == -2 or (left >= 0 and left < tonumber(lifetime)) then
    redis.call('PEXPIRE', KEYS[2], lifetime)
  end
  -- Redis deletes records after their lifetime, and their names stay. Each put checks two names.
  local records = string.sub(KEYS[1], 1, #KEYS[1] - #name)
  for _, other in ipairs(redis.call('ZRANDMEMBER', KEYS[2], 2)) do
    if redis.call('EXISTS', records .. other) == 0 then redis.call('ZREM', KEYS[2], other) end
  end
end
redis.call('PUBLISH', ARGV[6], ARGV[7])
return 1
