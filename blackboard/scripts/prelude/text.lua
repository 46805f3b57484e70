-- Stands in front of the library. Every script begins with `enter`.
-- keys: the episode's keys in the order of keys.py, then the operation's record, then what the script says.
-- argv: episode, seconds to keep the operation's record, arguments as JSON.
-- JSON is composed from text so that fields keep their order and an empty list stays a list.
local EVENTS, META, NODES, STATUS, CLOSED_BY, NAMES, STATEMENTS, OPEN, DEPTHS, ALTERNATIVES, DOWN, UP, MISSING, READY,
  LEASES, EXPIRY, HOLDERS, HOLDINGS, FENCES, ATTEMPTS, TRIES, AGENTS, COUNTS, CURSORS, LEMMAS, LEMMA_ORDER, PROOFS,
  CLOSINGS, MESSAGES, MAIL, REFUTATIONS, BROKEN, OPERATION
local KEYS, EPISODE, KEEP_S, ARGS, NOW, TIP
local FIRST_EXTRA_KEY = 34
local FAR = 1000 -- depth of a node that nothing connects to the theorem
local DEPTH_STEP = 10000000 -- more nodes than an episode can have; the same in nodes.py

-- cjson is not there yet when the library is loaded.
local function text(value)
  return cjson.encode(value)
end

local function integer(number)
  return string.format('%.0f', number)
end

local function flag(value)
  return value and 'true' or 'false'
end

local function optional(value)
  return value and text(value) or 'null'
end

local function array(items)
  return '[' .. table.concat(items, ',') .. ']'
end

local function texts(items)
  local parts = {}
  for i, item in ipairs(items) do
    parts[i] = text(item)
  end
  return array(parts)
end

local function object(...)
  local given, parts = { ... }, {}
  for i = 1, #given, 2 do
    parts[#parts + 1] = '"' .. given[i] .. '":' .. given[i + 1]
  end
  return '{' .. table.concat(parts, ',') .. '}'
end

local function words(line)
  local found = {}
  for word in string.gmatch(line or '', '%S+') do
    found[#found + 1] = word
  end
  return found
end

local function words_at(key, field)
  return words(redis.call('HGET', key, field))
end

local function hash_at(key)
  local flat, found = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do
    found[flat[i]] = flat[i + 1]
  end
  return found
end

local function add_word(key, field, word)
  local line = redis.call('HGET', key, field)
  redis.call('HSET', key, field, line and (line .. ' ' .. word) or word)
end

local function remove_word(key, field, word)
  local kept = {}
  for _, other in ipairs(words_at(key, field)) do
    if other ~= word then
      kept[#kept + 1] = other
    end
  end
  if #kept == 0 then
    redis.call('HDEL', key, field)
  else
    redis.call('HSET', key, field, table.concat(kept, ' '))
  end
end

local function fail(code, message, hint, facts)
  return { 'error', code, message, hint, facts or '{}' }
end

local function done(json)
  if KEEP_S > 0 then
    redis.call('SET', OPERATION, json, 'EX', KEEP_S)
  end
  return { 'ok', json }
end

local function earlier_reply()
  local json = KEEP_S > 0 and redis.call('GET', OPERATION)
  return json and { 'ok', json }
end

local function enter(keys, argv)
  EVENTS, META, NODES, STATUS, CLOSED_BY, NAMES, STATEMENTS, OPEN, DEPTHS, ALTERNATIVES, DOWN, UP, MISSING, READY,
    LEASES, EXPIRY, HOLDERS, HOLDINGS, FENCES, ATTEMPTS, TRIES, AGENTS, COUNTS, CURSORS, LEMMAS, LEMMA_ORDER, PROOFS,
    CLOSINGS, MESSAGES, MAIL, REFUTATIONS, BROKEN, OPERATION = unpack(keys, 1, 33)
  KEYS, EPISODE, KEEP_S, ARGS = keys, argv[1], tonumber(argv[2]), cjson.decode(argv[3])
  TIP = nil
  local clock = redis.call('TIME')
  NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)
end
