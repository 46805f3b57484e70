-- Answers columns, one entry per open node, and the valid leases.
local status = redis.call('HGET', META, 'status')
if not status then
  return unknown('episode', EPISODE)
end
if status == 'open' then
  expire_leases()
end
local ids = redis.call('ZRANGE', OPEN, 0, integer(ARGS.limit - 1))
if #ids == 0 then
  return { 'ok', {} }
end
local own = {}
for i, id in ipairs(ids) do
  own[i] = place_of(id, ARGS.agent)
end
return { 'ok', {
  redis.call('HMGET', NODES, unpack(ids)),
  redis.call('HMGET', STATUS, unpack(ids)),
  redis.call('HMGET', DOWN, unpack(ids)),
  redis.call('HMGET', UP, unpack(ids)),
  redis.call('HMGET', DEPTHS, unpack(ids)),
  redis.call('HMGET', TRIES, unpack(ids)),
  redis.call('HMGET', TRIES, unpack(own)),
  redis.call('HVALS', LEASES),
} }
