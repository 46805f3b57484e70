-- Lemmas are taken back: what they closed or refuted is open again, and alternatives with their glue are dead.
local reply = earlier_reply() or refusal()
if reply then
  return reply
end
local is_gone, reopened = {}, {}
for _, lemma in ipairs(ARGS.lemmas) do
  is_gone[lemma] = true
end

local function set_dead(alternative, is_dead)
  local json = redis.call('HGET', ALTERNATIVES, alternative)
  local fixed = string.gsub(json, ',"is_dead":true}$', '}')
  redis.call('HSET', ALTERNATIVES, alternative, is_dead and string.sub(fixed, 1, -2) .. ',"is_dead":true}' or fixed)
end

-- Whether the kernel still has a word against the alternative: its glue is gone or a child is refuted.
local function is_hopeless(alternative)
  local fixed = cjson.decode(redis.call('HGET', ALTERNATIVES, alternative))
  if is_gone[fixed.glue] or redis.call('SISMEMBER', BROKEN, alternative) == 1 then
    return true
  end
  for _, child in ipairs(fixed.children) do
    if redis.call('HGET', STATUS, child) == 'refuted' then
      return true
    end
  end
  return false
end

local function open_again(node, lemma)
  local was_closed = redis.call('HGET', STATUS, node) == 'closed'
  redis.call('HSET', STATUS, node, 'open')
  redis.call('HDEL', CLOSED_BY, node)
  redis.call('HDEL', REFUTATIONS, node)
  place_open(node, tonumber(redis.call('HGET', DEPTHS, node)))
  reopened[#reopened + 1] = node
  local revived = {}
  for _, edge in ipairs(words_at(UP, node)) do
    local alternative = string.match(edge, '^[^:]+')
    if was_closed then
      redis.call('HINCRBY', MISSING, alternative, 1)
      redis.call('SREM', READY, alternative)
    elseif not is_hopeless(alternative) then
      set_dead(alternative, false)
      revived[#revived + 1] = alternative
    end
  end
  if was_closed then
    redis.call('HINCRBY', META, 'closed_nodes', -1)
  end
  append_event('node_reopened', ARGS.actor, object('node', text(node), 'lemma', text(lemma),
    'alternatives', texts(revived)))
end

local function take_back(lemma, note)
  redis.call('HDEL', LEMMAS, lemma)
  redis.call('LREM', LEMMA_ORDER, 0, lemma)
  if redis.call('HGET', PROOFS, note.statement_hash) == lemma then
    redis.call('HDEL', PROOFS, note.statement_hash)
  end
  redis.call('HINCRBY', META, 'lemmas', -1)
  redis.call('HINCRBY', COUNTS, note.author .. '|lemmas', -1)
end

local broken = {}
for id, json in pairs(hash_at(ALTERNATIVES)) do
  if is_gone[cjson.decode(json).glue] then
    redis.call('SADD', BROKEN, id)
    redis.call('SREM', READY, id)
    set_dead(id, true)
    broken[#broken + 1] = id
  end
end
table.sort(broken)
for _, lemma in ipairs(ARGS.lemmas) do
  local json = redis.call('HGET', LEMMAS, lemma)
  local note = json and cjson.decode(json)
  if note then
    take_back(lemma, note)
    append_event('lemma_revoked', ARGS.actor, object('lemma', text(lemma), 'name', text(note.name),
      'reason', text(ARGS.reason), 'alternatives', texts(broken)))
    broken = {}
  end
  for _, node in ipairs(words_at(CLOSINGS, lemma)) do
    if redis.call('HGET', CLOSED_BY, node) == lemma then
      open_again(node, lemma)
    end
  end
  redis.call('HDEL', CLOSINGS, lemma)
end
if #broken > 0 then
  append_event('lemma_revoked', ARGS.actor, object('lemma', text(ARGS.lemmas[1]), 'name', text(''),
    'reason', text(ARGS.reason), 'alternatives', texts(broken)))
end
local refuted = {}
for node, json in pairs(hash_at(REFUTATIONS)) do
  if is_gone[cjson.decode(json).lemma] then
    refuted[#refuted + 1] = node
  end
end
table.sort(refuted)
for _, node in ipairs(refuted) do
  open_again(node, cjson.decode(redis.call('HGET', REFUTATIONS, node)).lemma)
end
for _, node in ipairs(reopened) do
  for _, alternative in ipairs(words_at(DOWN, node)) do
    if tonumber(redis.call('HGET', MISSING, alternative)) == 0 and redis.call('SISMEMBER', BROKEN, alternative) == 0 then
      redis.call('SADD', READY, alternative)
    end
  end
end
return done(texts(reopened))
