local reply = bring_up_to_date()
if reply then
  return reply
end
local nodes = words_at(HOLDINGS, ARGS.agent)
if ARGS.node then
  local node = node_id(ARGS.node)
  if not node then
    return unknown('node', ARGS.node)
  end
  local lease, reply = held_lease(node, ARGS.agent)
  if not lease then
    return reply[2] == 'lease_lost' and reply
      or fail('lease_lost', ARGS.agent .. ' holds no lease on ' .. node, 'claim something else',
        object('node', text(node), 'holders', array(leases_on(node))))
  end
  nodes = { node }
end
return { 'ok', renew_leases(ARGS.agent, ARGS.ttl_ms, nodes) }
