local reply = earlier_reply()
if reply then
  return reply
end
if redis.call('EXISTS', META) == 1 then
  return fail('duplicate', 'there is an episode ' .. EPISODE .. ' already', 'choose another id',
    object('id', text(EPISODE)))
end
redis.call('HSET', META, 'status', 'open', 'reason', '', 'bundle', ARGS.bundle, 'root', 'n0', 'seq', '0',
  'head', string.rep('0', 40), 'opened_at_ms', integer(NOW), 'details', ARGS.details)
append_event('episode_opened', 'server', object('root', text('n0'), 'statement', text(ARGS.target.statement),
  'bundle', text(ARGS.bundle), 'details', ARGS.details))
create_node(ARGS.target, 'server')
return done(node_json('n0'))
