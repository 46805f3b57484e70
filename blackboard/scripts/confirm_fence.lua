local reply = refusal()
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
return { 'ok', lease_json(lease) }
