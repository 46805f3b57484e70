-- Leases, attempts, fences.
local function lease_json(lease)
  return object('node', text(lease.node), 'agent', text(lease.agent), 'fence', integer(lease.fence),
    'expires_at_ms', integer(lease.expires_at_ms), 'approach', text(lease.approach))
end

local function place_of(node, agent)
  return node .. '|' .. agent
end

local function lease_at(node, agent)
  local json = redis.call('HGET', LEASES, place_of(node, agent))
  return json and cjson.decode(json)
end

local function leases_on(node)
  local found = {}
  for _, agent in ipairs(words_at(HOLDERS, node)) do
    found[#found + 1] = redis.call('HGET', LEASES, place_of(node, agent))
  end
  return found
end

local function leases_of(agent)
  local found = {}
  for _, node in ipairs(words_at(HOLDINGS, agent)) do
    found[#found + 1] = redis.call('HGET', LEASES, place_of(node, agent))
  end
  return found
end

local function store_lease(lease)
  local place = place_of(lease.node, lease.agent)
  redis.call('HSET', LEASES, place, lease_json(lease))
  redis.call('ZADD', EXPIRY, integer(lease.expires_at_ms), place)
end

-- `is_held`: the agent has a lease on the node already, which this one replaces.
local function start_lease(node, agent, ttl_ms, approach, is_held)
  local fence = redis.call('HINCRBY', FENCES, node, 1)
  local lease = { node = node, agent = agent, fence = fence, expires_at_ms = NOW + ttl_ms, approach = approach }
  if not is_held then
    add_word(HOLDERS, node, agent)
    add_word(HOLDINGS, agent, node)
  end
  store_lease(lease)
  return lease
end

local function end_lease(lease)
  local place = place_of(lease.node, lease.agent)
  redis.call('HDEL', LEASES, place)
  redis.call('ZREM', EXPIRY, place)
  remove_word(HOLDERS, lease.node, lease.agent)
  remove_word(HOLDINGS, lease.agent, lease.node)
end

local function release_lease(lease, outcome, actor)
  end_lease(lease)
  append_event('lease_released', actor, object('node', text(lease.node), 'agent', text(lease.agent),
    'fence', integer(lease.fence), 'outcome', text(outcome)))
end

local function note_attempt(lease, outcome, note, actor)
  local fields = { 'node', text(lease.node), 'agent', text(lease.agent), 'approach', text(lease.approach),
    'outcome', text(outcome), 'note', text(note) }
  local seq = append_event('attempt_noted', actor, object(unpack(fields)))
  fields[#fields + 1] = 'at_seq'
  fields[#fields + 1] = seq
  local json = object(unpack(fields))
  local count = redis.call('HINCRBY', TRIES, lease.node, 1)
  redis.call('HINCRBY', TRIES, place_of(lease.node, lease.agent), 1)
  redis.call('HSET', ATTEMPTS, lease.node .. '#' .. count, json)
  return json
end

local function expire_leases()
  for _, place in ipairs(redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', integer(NOW))) do
    local lease = cjson.decode(redis.call('HGET', LEASES, place))
    end_lease(lease)
    append_event('lease_expired', 'server', object('node', text(lease.node), 'agent', text(lease.agent),
      'fence', integer(lease.fence), 'approach', text(lease.approach)))
    note_attempt(lease, 'expired', '', 'server')
  end
end

-- Ends what has run out, also for those who only look; answers a refusal when there is no such episode.
local function bring_up_to_date()
  local status = tip()[1]
  if not status then
    return unknown('episode', EPISODE)
  end
  if status == 'open' then
    expire_leases()
  end
end

local function renew_leases(agent, ttl_ms, nodes)
  local renewed = {}
  for _, node in ipairs(nodes) do
    local lease = lease_at(node, agent)
    lease.expires_at_ms = math.max(lease.expires_at_ms, NOW + ttl_ms)
    store_lease(lease)
    renewed[#renewed + 1] = lease_json(lease)
  end
  return array(renewed)
end

-- The agent's lease under this fence (any fence when nil), or nil and the refusal.
local function held_lease(node, agent, fence)
  local lease = lease_at(node, agent)
  if lease and (not fence or lease.fence == fence) then
    return lease
  end
  local owner = lease and agent or words_at(HOLDERS, node)[1]
  if owner then
    local current = lease_at(node, owner)
    return nil, fail('stale_fence', 'the lease on ' .. node .. ' is now under fence ' .. integer(current.fence)
      .. ', held by ' .. owner, 'go on with the present fence or claim something else',
      object('owner', text(owner), 'fence', integer(current.fence)))
  end
  local lemma = redis.call('HGET', CLOSED_BY, node)
  return nil, fail('lease_lost', agent .. ' holds no lease on ' .. node .. (lemma and ', which is proved' or ''),
    lemma and 'claim something else' or 'claim it again', object('node', text(node), 'lemma', optional(lemma)))
end

local function agent_is_full(agent, per_agent)
  local held = leases_of(agent)
  if #held >= per_agent then
    return fail('lease_full', agent .. ' holds ' .. #held .. ' of ' .. integer(per_agent) .. ' leases',
      'release one first', object('holders', array(held)))
  end
end
