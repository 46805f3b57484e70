local reply = earlier_reply() or refusal()
if reply then
  return reply
end
expire_leases()
local node = node_id(ARGS.node)
if not node then
  return unknown('node', ARGS.node)
end
local lease, failure = held_lease(node, ARGS.agent, ARGS.fence)
if not lease then
  return failure
end
release_lease(lease, ARGS.outcome, ARGS.agent)
return done(note_attempt(lease, ARGS.outcome, ARGS.note, ARGS.agent))
