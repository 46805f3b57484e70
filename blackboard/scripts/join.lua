local reply = earlier_reply() or refusal()
if reply then
  return reply
end
local known = redis.call('HGET', AGENTS, ARGS.agent)
if not known or cjson.decode(known).role ~= ARGS.role then
  local seq = append_event('agent_joined', ARGS.agent, object('agent', text(ARGS.agent), 'role', text(ARGS.role)))
  local at_seq = known and integer(cjson.decode(known).at_seq) or seq
  redis.call('HSET', AGENTS, ARGS.agent, object('name', text(ARGS.agent), 'role', text(ARGS.role), 'at_seq', at_seq))
  if not known then
    redis.call('HSET', CURSORS, ARGS.agent .. '|committed', seq, ARGS.agent .. '|delivered', seq,
      ARGS.agent .. '|shown', seq)
  end
end
local counts = redis.call('HMGET', COUNTS, ARGS.agent .. '|calls', ARGS.agent .. '|checks', ARGS.agent .. '|lemmas')
return done(object('name', text(ARGS.agent), 'role', text(ARGS.role), 'calls', counts[1] or '0',
  'checks', counts[2] or '0', 'lemmas', counts[3] or '0'))
