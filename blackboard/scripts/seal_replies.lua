-- Only grows: a seal that comes late says nothing new. Also after the end, when agents still read.
local known = redis.call('HGET', META, 'replies')
if not redis.call('HGET', META, 'status') then
  return unknown('episode', EPISODE)
end
if not known or tonumber(known) < ARGS.number then
  redis.call('HSET', META, 'replies', integer(ARGS.number), 'replies_hash', ARGS.hash)
end
return { 'ok', 'null' }
