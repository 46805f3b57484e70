local reply = earlier_reply() or refusal()
if reply then
  return reply
end
local draft = ARGS.draft
local same = redis.call('HGET', STATEMENTS, draft.statement_hash)
if same then
  local status = redis.call('HGET', STATUS, same)
  local name = cjson.decode(redis.call('HGET', NODES, same)).name
  local facts = object('id', text(same), 'name', text(name), 'status', text(status),
    'lemma', optional(redis.call('HGET', CLOSED_BY, same)))
  if status == 'refuted' then
    return fail('refuted', 'the statement is that of ' .. same .. ', which is known to be false',
      'change the statement', facts)
  end
  return fail('duplicate', same .. ' (' .. name .. ') has this statement already and is ' .. status,
    'use ' .. same, facts)
end
local proof = redis.call('HGET', PROOFS, draft.statement_hash)
if not proof and ARGS.open_parts_max and redis.call('ZCARD', OPEN) >= ARGS.open_parts_max then
  return fail('too_large', integer(ARGS.open_parts_max) .. ' parts are open, more are not taken',
    'prove or refine what is there', object('cap', integer(ARGS.open_parts_max)))
end
local node = create_node(draft, ARGS.actor)
if proof then
  close_node(node, proof, ARGS.actor)
end
return done(node_json(node))
