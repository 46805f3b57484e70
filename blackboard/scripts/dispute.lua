local reply = earlier_reply() or refusal()
if reply then
  return reply
end
local node = node_id(ARGS.node)
if not node then
  return unknown('node', ARGS.node)
end
local status = redis.call('HGET', STATUS, node)
if status == 'closed' then
  return fail('gone', node .. ' is proved: the kernel accepted it', 'use the lemma',
    object('replacement', text(redis.call('HGET', CLOSED_BY, node))))
end
if status == 'refuted' then
  return fail('refuted', node .. ' is known to be false already', 'change the statement', object('id', text(node)))
end
redis.call('HSET', STATUS, node, 'disputed')
append_event('node_disputed', ARGS.actor, object('node', text(node), 'text', text(ARGS.text),
  'repair', text(ARGS.repair)))
local hit, parents = {}, {}
for _, edge in ipairs(words_at(UP, node)) do
  hit[#hit + 1] = string.match(edge, '^[^:]+')
end
return done(object('node', text(node), 'alternatives', texts(hit), 'parents', texts(parents)))
