-- Removes a record if its version matches, and reports the change.
-- KEYS: record, index. ARGV: now, condition, name in the index, channel, key.
-- Returns 1 if the record was removed, 0 if it was absent, or the version that was found.
local head = redis.call('GETRANGE', KEYS[1], 0, 15)
local found = ''
if #head == 16 and struct.unpack('>I8', head, 9) > tonumber(ARGV[1]) then
  found = string.sub(head, 1, 8)
end
local condition = ARGV[2]
if (condition == '-' and found ~= '') or (#condition == 8 and condition ~= found) then
  return found
end
redis.call('DEL', KEYS[1])
if ARGV[3] ~= '' then redis.call('ZREM', KEYS[2], ARGV[3]) end
if found == '' then return 0 end
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1
