-- Further KEYS: the agent's calls in flight. A call that never ended counts as dead after ARGS.call_max_ms.
-- Calls in flight end with the store. A commit that a crash undoes is made again by the agent's next call.
local RENEWED_ENOUGH = 0.9 -- a lease that lasts for this part of its time is not worth a write
local meta = redis.call('HMGET', META, 'status', 'seq', 'head')
local status = meta[1]
if not status then
  return unknown('episode', EPISODE)
end
local reply = unknown_agent(ARGS.agent)
if reply then
  return reply
end
local calls = KEYS[FIRST_EXTRA_KEY]
local committed_at, delivered_at, shown_at = ARGS.agent .. '|committed', ARGS.agent .. '|delivered', ARGS.agent .. '|shown'
local cursors = redis.call('HMGET', CURSORS, committed_at, delivered_at, shown_at)
local committed, delivered = cursors[1], cursors[2]
forgettable()
if not redis.call('ZSCORE', calls, ARGS.call) then
  redis.call('ZREMRANGEBYSCORE', calls, '-inf', integer(NOW - ARGS.call_max_ms))
  if redis.call('ZCARD', calls) == 0 and committed ~= delivered then
    committed = delivered
    redis.call('HSET', CURSORS, committed_at, committed)
  end
  redis.call('ZADD', calls, integer(NOW), ARGS.call)
  redis.call('HINCRBY', COUNTS, ARGS.agent .. '|calls', 1)
end
lasting()
if status == 'open' and ARGS.renew_ms then
  expire_leases()
  local soon = {}
  for _, node in ipairs(words_at(HOLDINGS, ARGS.agent)) do
    local ends = redis.call('ZSCORE', EXPIRY, place_of(node, ARGS.agent))
    if tonumber(ends) - NOW < ARGS.renew_ms * RENEWED_ENOUGH then
      soon[#soon + 1] = node
    end
  end
  renew_leases(ARGS.agent, ARGS.renew_ms, soon)
end
return { 'ok', object('episode', text(EPISODE), 'agent', text(ARGS.agent), 'call', text(ARGS.call),
  'status', text(status), 'committed', committed, 'shown', cursors[3], 'seq', meta[2], 'head', text(meta[3])) }
