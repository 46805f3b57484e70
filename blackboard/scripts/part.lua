-- Answers a node with the leases on it and the last attempts.
local reply = bring_up_to_date()
if reply then
  return reply
end
local node = node_id(ARGS.node)
if not node then
  return unknown('node', ARGS.node)
end
local last, fields = tonumber(redis.call('HGET', TRIES, node) or 0), {}
for number = math.max(1, last - ARGS.attempts + 1), last do
  fields[#fields + 1] = node .. '#' .. integer(number)
end
return { 'ok', object('node', node_json(node), 'leases', array(leases_on(node)),
  'attempts', array(#fields > 0 and redis.call('HMGET', ATTEMPTS, unpack(fields)) or {})) }
