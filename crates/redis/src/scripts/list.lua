-- Lists the records of a group whose names are in a range.
-- KEYS: index. ARGV: now, start of the keys of the records, from, to, most records, most bytes.
-- Returns 1 if there are more records, else 0; then each name with its record.
local now, most, room = tonumber(ARGV[1]), tonumber(ARGV[5]), tonumber(ARGV[6])
local page = {0}
local from = ARGV[3]
while true do
  local names = redis.call('ZRANGEBYLEX', KEYS[1], from, ARGV[4], 'LIMIT', 0, 100)
  for _, name in ipairs(names) do
    local record = redis.call('GET', ARGV[2] .. name)
    if not record then
      redis.call('ZREM', KEYS[1], name)
    elseif struct.unpack('>I8', record, 9) > now then
      local size = #record - 16
      if #page > 1 and (most == 0 or size > room) then
        page[1] = 1
        return page
      end
      most = most - 1
      room = math.max(room - size, 0)
      page[#page + 1] = name
      page[#page + 1] = record
    end
  end
  if #names < 100 then return page end
  from = '(' .. names[#names]
end
