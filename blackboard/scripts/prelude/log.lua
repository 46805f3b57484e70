-- What is written between `forgettable` and `lasting` is in the store's memory only: it costs no write to the disk, and
-- after a crash it is as it was before, or not there.
local function forgettable()
  redis.set_repl(redis.REPL_NONE)
end

local function lasting()
  redis.set_repl(redis.REPL_ALL)
end

-- Refusals that every change may answer, and the hash-chained log.
local function unknown(what, id)
  return fail('unknown_id', 'there is no ' .. what .. ' ' .. id, '', object('kind', text(what), 'id', text(id)))
end

-- The episode's status, and number and hash of the last event: read once in a script, kept by what writes events.
local function tip()
  TIP = TIP or redis.call('HMGET', META, 'status', 'seq', 'head')
  return TIP
end

-- The refusal that an ended or unknown episode answers to a change.
local function refusal()
  local status = tip()[1]
  if not status then
    return unknown('episode', EPISODE)
  end
  if status ~= 'open' then
    return fail('episode_closed', 'the episode has ended: ' .. status, 'it can still be read',
      object('status', text(status)))
  end
end

local function unknown_agent(agent)
  if redis.call('HEXISTS', AGENTS, agent) == 0 then
    return unknown('agent', agent)
  end
end

local function append_event(kind, actor, body)
  local status, last, previous = unpack(tip())
  local seq, now = integer(last + 1), integer(NOW)
  local sealed = table.concat({ previous, seq, now, kind, #actor .. ':' .. actor, body }, '\n')
  local hash = redis.sha1hex(sealed)
  redis.call('XADD', EVENTS, seq .. '-0', 'kind', kind, 'actor', actor, 'at', now, 'body', body,
    'prev', previous, 'hash', hash)
  redis.call('HSET', META, 'seq', seq, 'head', hash)
  TIP = { status, seq, hash }
  return seq
end
