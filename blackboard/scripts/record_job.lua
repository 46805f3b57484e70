-- Further KEYS: jobs, and their ids in the order of beginning. Also after the end of an episode, when a check ends late.
local jobs, order = KEYS[FIRST_EXTRA_KEY], KEYS[FIRST_EXTRA_KEY + 1]
if not redis.call('HGET', META, 'status') then
  return unknown('episode', EPISODE)
end
if redis.call('HSETNX', jobs, ARGS.id, ARGS.record) == 1 then
  redis.call('RPUSH', order, ARGS.id)
  if redis.call('LLEN', order) > ARGS.kept then
    redis.call('HDEL', jobs, redis.call('LPOP', order))
  end
elseif ARGS.is_over then
  redis.call('HSET', jobs, ARGS.id, ARGS.record)
end
return { 'ok', 'null' }
