local reply = refusal()
if reply then
  return reply[2] == 'episode_closed' and { 'ok', 'null' } or reply
end
expire_leases()
for _, json in ipairs(redis.call('HVALS', LEASES)) do
  release_lease(cjson.decode(json), 'episode_closed', 'server')
end
redis.call('HSET', META, 'status', ARGS.status, 'reason', ARGS.reason, 'closed_at_ms', integer(NOW))
append_event('episode_closed', 'server', object('status', text(ARGS.status), 'reason', text(ARGS.reason)))
return { 'ok', 'null' }
