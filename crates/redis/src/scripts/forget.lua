-- Removes a log, and reports the change.
-- KEYS: head, events. ARGV: now, lifetime of the mark, channel, key.
-- Returns 1 if the log was present, else 0.
--
-- The head stays for a while as a mark, because the next log of the name must not use these positions.
local text = redis.call('GET', KEYS[1])
if not text then
  redis.call('DEL', KEYS[2])
  return 0
end
local birth, horizon, tail, bytes, expiry = string.match(text, '(%d+) (%d+) (%d+) (%d+) (%d+)')
local count = tonumber(tail) - tonumber(horizon)
local was_present = tonumber(expiry) > tonumber(ARGV[1]) and redis.call('LLEN', KEYS[2]) == count
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[1], tail .. ' ' .. tail .. ' ' .. tail .. ' 0 0', 'PX', ARGV[2])
if not was_present then return 0 end
redis.call('PUBLISH', ARGV[3], ARGV[4])
return 1
