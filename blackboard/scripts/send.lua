-- Further KEYS: the mailboxes that get the message; MAIL is the one that everybody reads.
local reply = earlier_reply() or refusal()
if reply then
  return reply
end
for _, agent in ipairs(ARGS.to) do
  if redis.call('HEXISTS', AGENTS, agent) == 0 then
    local roster = redis.call('HKEYS', AGENTS)
    table.sort(roster)
    return fail('unknown_recipient', 'there is nobody called ' .. agent, 'choose from the roster; nothing was sent',
      object('roster', texts(roster)))
  end
end
local id = 'm' .. integer(redis.call('HINCRBY', META, 'messages', 1))
local fields = { 'type', text(ARGS.type), 'to', texts(ARGS.to), 'text', text(ARGS.text), 'ref', optional(ARGS.ref),
  'needs_ack', flag(ARGS.needs_ack) }
local seq = append_event('message_sent', ARGS.sender, object('message', text(id), 'from', text(ARGS.sender),
  unpack(fields)))
local json = object('id', text(id), 'sender', text(ARGS.sender), 'at_seq', seq, unpack(fields))
redis.call('HSET', MESSAGES, id, json)
if #ARGS.to == 0 then
  redis.call('RPUSH', MAIL, id)
end
for i = FIRST_EXTRA_KEY, #KEYS do
  redis.call('RPUSH', KEYS[i], id)
end
return done(json)
