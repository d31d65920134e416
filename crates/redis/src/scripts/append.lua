-- Appends events to a log if it ends at the expected tail, drops the oldest events, and reports the change.
-- KEYS: head, events. ARGV: now, tail, most events, most bytes, expiry, lifetime, channel, key, then the events.
-- Returns 1 and the new tail, or 0 and the tail that was found.
--
-- The head has five numbers: birth, horizon, tail, bytes, expiry. The positions of a log are consecutive and begin
-- after its birth, which is the time in microseconds. The first event has the position after the horizon.
local text = redis.call('GET', KEYS[1])
local birth, horizon, tail, bytes, expiry = string.match(text or '0 0 0 0 0', '(%d+) (%d+) (%d+) (%d+) (%d+)')
birth, horizon, tail, bytes = tonumber(birth), tonumber(horizon), tonumber(tail), tonumber(bytes)
local is_alive = tonumber(expiry) > tonumber(ARGV[1]) and redis.call('LLEN', KEYS[2]) == tail - horizon
local found = is_alive and tail or 0
if ARGV[2] ~= '' and tonumber(ARGV[2]) ~= found then return {0, found} end
local added = #ARGV - 8
if not is_alive then
  if added == 0 then return {1, 0} end
  redis.call('DEL', KEYS[2])
  local time = redis.call('TIME')
  -- The clock may have gone back. A position is never used again.
  birth = math.max(time[1] * 1000000 + time[2], tail + 1)
  horizon, tail, bytes = birth, birth, 0
end
for i = 9, #ARGV do
  redis.call('RPUSH', KEYS[2], ARGV[i])
  bytes = bytes + #ARGV[i]
end
tail = tail + added
while tail - horizon > 1 and (tail - horizon > tonumber(ARGV[3]) or bytes > tonumber(ARGV[4])) do
  bytes = bytes - #redis.call('LPOP', KEYS[2])
  horizon = horizon + 1
end
local head = string.format('%.0f %.0f %.0f %.0f %s', birth, horizon, tail, bytes, ARGV[5])
if ARGV[6] == '' then
  redis.call('SET', KEYS[1], head)
  redis.call('PERSIST', KEYS[2])
else
  redis.call('SET', KEYS[1], head, 'PX', ARGV[6])
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
end
redis.call('PUBLISH', ARGV[7], ARGV[8])
return {1, tail}
