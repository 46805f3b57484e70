-- Nodes: creating, finding, closing.
local function node_id(id_or_name)
  if redis.call('HEXISTS', NODES, id_or_name) == 1 then
    return id_or_name
  end
  return redis.call('HGET', NAMES, id_or_name)
end

local function node_json(id)
  local fixed = redis.call('HGET', NODES, id)
  return string.sub(fixed, 1, -2) .. ',"status":' .. text(redis.call('HGET', STATUS, id))
    .. ',"lemma":' .. optional(redis.call('HGET', CLOSED_BY, id))
    .. ',"alternatives":' .. texts(words_at(DOWN, id)) .. '}'
end

local function is_settled(node)
  local status = redis.call('HGET', STATUS, node)
  return status == 'closed' or status == 'refuted'
end

local function place_open(node, depth)
  redis.call('HSET', DEPTHS, node, depth)
  if not is_settled(node) then
    redis.call('ZADD', OPEN, depth * DEPTH_STEP + tonumber(string.sub(node, 2)), node)
  end
end

local function free_name(wanted)
  local name, number = wanted, 2
  while redis.call('HEXISTS', NAMES, name) == 1 do
    name = wanted .. '_' .. number
    number = number + 1
  end
  return name
end

local function create_node(draft, actor)
  local id = 'n' .. integer(redis.call('HINCRBY', META, 'nodes', 1) - 1)
  local name = free_name(draft.name)
  local seq = append_event('node_added', actor, object('node', text(id), 'name', text(name),
    'statement', text(draft.statement), 'statement_hash', text(draft.statement_hash), 'note', text(draft.note)))
  redis.call('HSET', NODES, id, object('id', text(id), 'name', text(name), 'statement', text(draft.statement),
    'statement_hash', text(draft.statement_hash), 'note', text(draft.note), 'author', text(actor), 'at_seq', seq))
  redis.call('HSET', NAMES, name, id)
  redis.call('HSET', STATUS, id, 'open')
  redis.call('HSET', STATEMENTS, draft.statement_hash, id)
  if draft.order_free_hash and draft.order_free_hash ~= '' then
    redis.call('HSETNX', STATEMENTS, 'any order ' .. draft.order_free_hash, id)
  end
  place_open(id, id == 'n0' and 0 or FAR)
  return id
end

-- UP holds "alternative:parent" words.
local function ready_above(node, found)
  for _, edge in ipairs(words_at(UP, node)) do
    local alternative = string.match(edge, '^[^:]+')
    if redis.call('SISMEMBER', READY, alternative) == 1 then
      found[#found + 1] = alternative
    end
  end
end

local function close_node(node, lemma, actor)
  redis.call('HSET', STATUS, node, 'closed')
  redis.call('HSET', CLOSED_BY, node, lemma)
  redis.call('HINCRBY', META, 'closed_nodes', 1)
  redis.call('ZREM', OPEN, node)
  add_word(CLOSINGS, lemma, node)
  append_event('node_closed', actor, object('node', text(node), 'lemma', text(lemma)))
  for _, json in ipairs(leases_on(node)) do
    release_lease(cjson.decode(json), 'closed', actor)
  end
  for _, alternative in ipairs(words_at(DOWN, node)) do
    redis.call('SREM', READY, alternative)
  end
  for _, edge in ipairs(words_at(UP, node)) do
    local alternative, parent = string.match(edge, '^([^:]+):(.+)$')
    local is_complete = redis.call('HINCRBY', MISSING, alternative, -1) == 0
    if is_complete and not is_settled(parent) and redis.call('SISMEMBER', BROKEN, alternative) == 0 then
      redis.call('SADD', READY, alternative)
    end
  end
end
