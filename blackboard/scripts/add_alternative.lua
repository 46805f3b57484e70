local reply = earlier_reply() or refusal()
if reply then
  return reply
end
local parent = node_id(ARGS.parent)
if not parent then
  return unknown('node', ARGS.parent)
end
if is_settled(parent) then
  return fail('gone', parent .. ' is ' .. redis.call('HGET', STATUS, parent) .. ' already', 'work on something else',
    object('replacement', optional(redis.call('HGET', CLOSED_BY, parent))))
end

local children, is_child, missing = {}, {}, 0
for _, given in ipairs(ARGS.children) do
  local child = node_id(given)
  if not child then
    return unknown('node', given)
  end
  if not is_child[child] then
    is_child[child] = true
    children[#children + 1] = child
    if redis.call('HGET', STATUS, child) == 'refuted' then
      return fail('refuted', child .. ' is known to be false', 'split it into other parts', object('id', text(child)))
    end
    if redis.call('HGET', STATUS, child) ~= 'closed' then
      missing = missing + 1
    end
  end
end

-- Upwards from the parent: whoever is met needs the parent. below[x] is the node under x on the way.
local queue, below, at = { parent }, { [parent] = '' }, 1
while queue[at] do
  local node = queue[at]
  if is_child[node] then
    local path = {}
    while node ~= '' do
      path[#path + 1] = node
      node = below[node]
    end
    path[#path + 1] = path[1]
    return fail('cyclic', path[1] .. ' itself needs ' .. parent, 'split it into other parts',
      object('path', texts(path)))
  end
  for _, edge in ipairs(words_at(UP, node)) do
    local above = string.match(edge, ':(.+)$')
    if not below[above] then
      below[above] = node
      queue[#queue + 1] = above
    end
  end
  at = at + 1
end

for _, other in ipairs(words_at(DOWN, parent)) do
  local theirs = cjson.decode(redis.call('HGET', ALTERNATIVES, other)).children
  local shared = 0
  for _, child in ipairs(theirs) do
    shared = shared + (is_child[child] and 1 or 0)
  end
  if shared == #theirs and shared == #children then
    return fail('duplicate', other .. ' splits ' .. parent .. ' in the same way', 'use ' .. other,
      object('id', text(other)))
  end
end

local id = 'a' .. integer(redis.call('HINCRBY', META, 'alternatives', 1))
local fields = { 'parent', text(parent), 'children', texts(children), 'glue', text(ARGS.glue) }
local seq = append_event('alternative_added', ARGS.actor, object('alternative', text(id), unpack(fields)))
fields[#fields + 1] = 'author'
fields[#fields + 1] = text(ARGS.actor)
fields[#fields + 1] = 'at_seq'
fields[#fields + 1] = seq
local json = object('id', text(id), unpack(fields))
redis.call('HSET', ALTERNATIVES, id, json)
redis.call('HSET', MISSING, id, missing)
add_word(DOWN, parent, id)
for _, child in ipairs(children) do
  add_word(UP, child, id .. ':' .. parent)
end
if missing == 0 then
  redis.call('SADD', READY, id)
end

-- Children come nearer to the theorem, and so does what is under them.
local nearer = { { parent, children } }
while #nearer > 0 do
  local above, nodes = unpack(table.remove(nearer))
  local depth = redis.call('HGET', DEPTHS, above) + 1
  for _, node in ipairs(nodes) do
    if depth < FAR and depth < tonumber(redis.call('HGET', DEPTHS, node)) then
      place_open(node, depth)
      for _, alternative in ipairs(words_at(DOWN, node)) do
        nearer[#nearer + 1] = { node, cjson.decode(redis.call('HGET', ALTERNATIVES, alternative)).children }
      end
    end
  end
end
return done(json)
