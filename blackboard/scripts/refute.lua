-- The kernel accepted the negation: nobody works on the node any more, and no alternative that needs it can live.
local reply = earlier_reply() or refusal()
if reply then
  return reply
end
expire_leases()
local node = node_id(ARGS.node)
if not node then
  return unknown('node', ARGS.node)
end
local status = redis.call('HGET', STATUS, node)
if status == 'closed' then
  return fail('gone', node .. ' is proved already', 'use the lemma',
    object('replacement', text(redis.call('HGET', CLOSED_BY, node))))
end

local hit, parents, is_parent = {}, {}, {}
for _, edge in ipairs(words_at(UP, node)) do
  local alternative, parent = string.match(edge, '^([^:]+):(.+)$')
  hit[#hit + 1] = alternative
  if not is_parent[parent] then
    is_parent[parent] = true
    parents[#parents + 1] = parent
  end
end
if status ~= 'refuted' then
  redis.call('HSET', STATUS, node, 'refuted')
  redis.call('ZREM', OPEN, node)
  local seq = append_event('node_refuted', ARGS.actor, object('node', text(node), 'lemma', text(ARGS.lemma),
    'witness', text(ARGS.witness), 'alternatives', texts(hit)))
  redis.call('HSET', REFUTATIONS, node, object('node', text(node), 'lemma', text(ARGS.lemma),
    'witness', text(ARGS.witness), 'author', text(ARGS.actor), 'at_seq', seq))
  for _, json in ipairs(leases_on(node)) do
    release_lease(cjson.decode(json), 'refuted', ARGS.actor)
  end
  for _, alternative in ipairs(words_at(DOWN, node)) do
    redis.call('SREM', READY, alternative)
  end
  for _, alternative in ipairs(hit) do
    local json = redis.call('HGET', ALTERNATIVES, alternative)
    if not cjson.decode(json).is_dead then
      redis.call('HSET', ALTERNATIVES, alternative, string.sub(json, 1, -2) .. ',"is_dead":true}')
    end
  end
end
return done(object('node', text(node), 'alternatives', texts(hit), 'parents', texts(parents)))
