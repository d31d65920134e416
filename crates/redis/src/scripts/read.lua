-- Reads the events of a log after a position.
-- KEYS: head, events. ARGV: now, after, most events, most bytes.
-- Returns 0 if events were lost, 1 if the log has no such position. Else: 1 if there are more events or 0, the
-- position before the first event, and the events.
local text = redis.call('GET', KEYS[1])
local birth, horizon, tail, bytes, expiry = string.match(text or '0 0 0 0 0', '(%d+) (%d+) (%d+) (%d+) (%d+)')
birth, horizon, tail = tonumber(birth), tonumber(horizon), tonumber(tail)
local after = tonumber(ARGV[2])
if tonumber(expiry) <= tonumber(ARGV[1]) or redis.call('LLEN', KEYS[2]) ~= tail - horizon then
  if after == 0 then return {0, 0} end
  return 0
end
local has_all = horizon == birth
if after == 0 and has_all then
  after = birth
elseif after < horizon then
  return 0
elseif after > tail or (after == birth and has_all) then
  return 1
end
local most, room = tonumber(ARGV[3]), tonumber(ARGV[4])
local page = {0, after}
local at, count = after - horizon, tail - horizon
while at < count do
  local events = redis.call('LRANGE', KEYS[2], at, at + math.min(most, 100))
  for _, event in ipairs(events) do
    if #page > 2 and (most == 0 or #event > room) then
      page[1] = 1
      return page
    end
    most = most - 1
    room = math.max(room - #event, 0)
    page[#page + 1] = event
  end
  at = at + #events
end
return page
