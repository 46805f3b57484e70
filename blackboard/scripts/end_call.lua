-- Further KEYS: the agent's calls in flight.
local function advance(cursor)
  local field = ARGS.agent .. '|' .. cursor
  if ARGS.up_to > tonumber(redis.call('HGET', CURSORS, field) or 0) then
    redis.call('HSET', CURSORS, field, integer(ARGS.up_to))
  end
end

if redis.call('ZREM', KEYS[FIRST_EXTRA_KEY], ARGS.call) == 1 and ARGS.up_to > 0 then
  advance('shown')
  if ARGS.is_delivered then
    advance('delivered')
  end
end
return { 'ok', 'null' }
