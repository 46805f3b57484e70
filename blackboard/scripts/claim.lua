-- Grants ARGS.node, or says why not. Without it grants the first that is free of ARGS.nodes, ids with spaces between.
local reply = earlier_reply() or refusal() or unknown_agent(ARGS.agent)
if reply then
  return reply
end
expire_leases()

local function grant(node, is_held)
  local lease = start_lease(node, ARGS.agent, ARGS.ttl_ms, ARGS.approach, is_held)
  append_event('lease_granted', ARGS.agent, object('node', text(node), 'agent', text(ARGS.agent),
    'fence', integer(lease.fence), 'approach', text(lease.approach)))
  return done(lease_json(lease))
end

local function settled(node)
  if not is_settled(node) then
    return nil
  end
  if redis.call('HGET', STATUS, node) == 'refuted' then
    return fail('refuted', node .. ' is known to be false', 'claim something else')
  end
  local lemma = redis.call('HGET', CLOSED_BY, node)
  return fail('gone', node .. ' is proved already', 'use the lemma', object('replacement', text(lemma)))
end

if ARGS.node then
  local node = node_id(ARGS.node)
  if not node then
    return unknown('node', ARGS.node)
  end
  local lease = lease_at(node, ARGS.agent)
  if lease and (ARGS.approach == '' or ARGS.approach == lease.approach) then
    renew_leases(ARGS.agent, ARGS.ttl_ms, { node })
    return done(lease_json(lease_at(node, ARGS.agent)))
  end
  if lease then
    return grant(node, true)
  end
  reply = settled(node) or agent_is_full(ARGS.agent, ARGS.per_agent)
  if reply then
    return reply
  end
  local held = leases_on(node)
  if #held >= ARGS.per_node then
    return fail('lease_full', node .. ' is worked on by ' .. table.concat(words_at(HOLDERS, node), ', '),
      'claim something else or help with words', object('holders', array(held)))
  end
  return grant(node)
end

reply = agent_is_full(ARGS.agent, ARGS.per_agent)
if reply then
  return reply
end
local function is_free(node)
  local holders = words_at(HOLDERS, node)
  for _, holder in ipairs(holders) do
    if holder == ARGS.agent then
      return false
    end
  end
  return #holders < ARGS.per_node and not is_settled(node)
end

for node in string.gmatch(ARGS.nodes, '%S+') do
  if is_free(node) then
    return grant(node)
  end
end
return { 'ok', 'null' }
