-- Further KEYS: the agent's calls in flight.
-- A page without news only spares the next call a look at the same events: it is not worth a write to the disk.
forgettable()
if redis.call('ZREM', KEYS[FIRST_EXTRA_KEY], ARGS.call) == 0 or ARGS.up_to == 0 then
  return { 'ok', 'null' }
end
local changes = {}

local function advance(cursor)
  local field = ARGS.agent .. '|' .. cursor
  if ARGS.up_to > tonumber(redis.call('HGET', CURSORS, field)) then
    changes[#changes + 1] = field
    changes[#changes + 1] = integer(ARGS.up_to)
  end
end

advance('shown')
if ARGS.is_delivered then
  advance('delivered')
end
if ARGS.has_news then
  lasting()
  redis.call('HSET', COUNTS, ARGS.agent .. '|calls', redis.call('HGET', COUNTS, ARGS.agent .. '|calls'))
end
if #changes > 0 then
  redis.call('HSET', CURSORS, unpack(changes))
end
return { 'ok', 'null' }
