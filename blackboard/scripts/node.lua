if redis.call('EXISTS', META) == 0 then
  return unknown('episode', EPISODE)
end
local node = node_id(ARGS.node)
if not node then
  return unknown('node', ARGS.node)
end
return { 'ok', node_json(node) }
