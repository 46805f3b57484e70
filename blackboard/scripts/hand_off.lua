local reply = earlier_reply() or refusal()
if reply then
  return reply
end
expire_leases()
local node = node_id(ARGS.node)
if not node then
  return unknown('node', ARGS.node)
end
if redis.call('HEXISTS', AGENTS, ARGS.to) == 0 or ARGS.to == ARGS.agent then
  local roster = redis.call('HKEYS', AGENTS)
  table.sort(roster)
  return fail('unknown_recipient', 'there is nobody else called ' .. ARGS.to, 'choose from the roster',
    object('roster', texts(roster)))
end
local lease, failure = held_lease(node, ARGS.agent, ARGS.fence)
if not lease then
  return failure
end
local theirs = lease_at(node, ARGS.to)
reply = not theirs and agent_is_full(ARGS.to, ARGS.per_agent)
if reply then
  return reply
end
end_lease(lease)
local new = start_lease(node, ARGS.to, ARGS.ttl_ms, lease.approach, theirs)
append_event('lease_handed_off', ARGS.agent, object('node', text(node), 'from', text(ARGS.agent),
  'to', text(ARGS.to), 'fence', integer(new.fence), 'approach', text(new.approach)))
note_attempt(lease, 'handed_off', ARGS.note, ARGS.agent)
return done(lease_json(new))
