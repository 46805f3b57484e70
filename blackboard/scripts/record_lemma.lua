local reply = earlier_reply()
if reply then
  return reply
end
local note = ARGS.note

local function recorded()
  local closed, ready = words_at(CLOSINGS, note.id), {}
  for _, node in ipairs(closed) do
    ready_above(node, ready)
  end
  return done(object('closed', texts(closed), 'ready', texts(ready)))
end

if redis.call('HEXISTS', LEMMAS, note.id) == 1 then
  return recorded()
end
reply = refusal()
if reply then
  return reply
end
expire_leases()

local node = redis.call('HGET', STATEMENTS, note.statement_hash)
local closes = {}
if node and not is_settled(node) then
  closes = { node }
end
local fields = { 'name', text(note.name), 'author', text(note.author), 'statement', text(note.statement),
  'statement_hash', text(note.statement_hash), 'uses', texts(note.uses) }
append_event('lemma_accepted', ARGS.actor, object('lemma', text(note.id), 'closes', texts(closes), unpack(fields)))
redis.call('HSET', LEMMAS, note.id, object('id', text(note.id), unpack(fields)))
redis.call('RPUSH', LEMMA_ORDER, note.id)
redis.call('HSETNX', PROOFS, note.statement_hash, note.id)
redis.call('HINCRBY', META, 'lemmas', 1)
redis.call('HINCRBY', COUNTS, note.author .. '|lemmas', 1)
for _, open in ipairs(closes) do
  close_node(open, note.id, ARGS.actor)
end
return recorded()
