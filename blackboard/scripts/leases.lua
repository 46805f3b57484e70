local reply = bring_up_to_date()
if reply then
  return reply
end
return { 'ok', array(ARGS.agent and leases_of(ARGS.agent) or redis.call('HVALS', LEASES)) }
