local reply = earlier_reply() or refusal()
if reply then
  return reply
end
redis.call('HINCRBY', COUNTS, ARGS.agent .. '|checks', 1)
redis.call('HINCRBY', META, 'checks', 1)
append_event('check_finished', ARGS.agent, object('agent', text(ARGS.agent), 'node', optional(ARGS.node),
  'accepted', texts(ARGS.accepted), 'rejected', integer(ARGS.rejected), 'undecided', integer(ARGS.undecided),
  'ms', integer(ARGS.ms), 'job', optional(ARGS.job)))
return done('null')
