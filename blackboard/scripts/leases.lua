local status = redis.call('HGET', META, 'status')
if not status then
  return unknown('episode', EPISODE)
end
if status == 'open' then
  expire_leases()
end
return { 'ok', array(ARGS.agent and leases_of(ARGS.agent) or redis.call('HVALS', LEASES)) }
