-- Adds to a counter. The first addition sets its expiry.
-- KEYS: counter. ARGV: now, amount, expiry, lifetime.
-- Returns the sum as text, because a number of Lua has 53 bits; empty if it does not fit in 64 bits.
local expiry = redis.call('HGET', KEYS[1], 'expiry')
if expiry and tonumber(expiry) <= tonumber(ARGV[1]) then
  redis.call('DEL', KEYS[1])
  expiry = false
end
local added = redis.pcall('HINCRBY', KEYS[1], 'sum', ARGV[2])
if type(added) == 'table' and added.err then
  if string.find(added.err, 'overflow', 1, true) then return '' end
  return added
end
if not expiry then
  redis.call('HSET', KEYS[1], 'expiry', ARGV[3])
  if ARGV[4] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
end
return redis.call('HGET', KEYS[1], 'sum')
