-- The event is all there is: no agent reads feedback.
local reply = earlier_reply() or refusal() or unknown_agent(ARGS.agent)
if reply then
  return reply
end
return done(append_event('feedback_given', ARGS.agent, object('text', text(ARGS.text), 'about', optional(ARGS.about))))
