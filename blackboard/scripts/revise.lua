local reply = earlier_reply() or refusal()
if reply then
  return reply
end
local node = node_id(ARGS.node)
if not node then
  return unknown('node', ARGS.node)
end
if is_settled(node) then
  return fail('gone', node .. ' is ' .. redis.call('HGET', STATUS, node) .. ' already', 'add a part of its own instead',
    object('replacement', optional(redis.call('HGET', CLOSED_BY, node))))
end
local fixed = cjson.decode(redis.call('HGET', NODES, node))
if fixed.author ~= ARGS.actor then
  return fail('bad_arguments', node .. ' was added by ' .. fixed.author .. ', who alone may revise it',
    'say it to the author', object('author', text(fixed.author)))
end
local name, note = fixed.name, ARGS.note or fixed.note
if ARGS.name and ARGS.name ~= fixed.name then
  redis.call('HDEL', NAMES, fixed.name)
  name = free_name(ARGS.name)
  redis.call('HSET', NAMES, name, node)
end
redis.call('HINCRBY', META, 'revisions', 1)
append_event('node_revised', ARGS.actor, object('node', text(node), 'name', text(name), 'note', text(note)))
redis.call('HSET', NODES, node, object('id', text(node), 'name', text(name), 'statement', text(fixed.statement),
  'statement_hash', text(fixed.statement_hash), 'note', text(note), 'author', text(fixed.author),
  'at_seq', integer(fixed.at_seq)))
return done(node_json(node))
