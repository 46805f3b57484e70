-- Answers ids and depths of open nodes, alternating, and the valid leases.
local status = redis.call('HGET', META, 'status')
if not status then
  return unknown('episode', EPISODE)
end
if status == 'open' then
  expire_leases()
end
local placed = redis.call('ZRANGE', OPEN, 0, integer(ARGS.limit - 1), 'WITHSCORES')
for i = 2, #placed, 2 do
  placed[i] = math.floor(placed[i] / DEPTH_STEP)
end
return { 'ok', { placed, redis.call('HVALS', LEASES) } }
