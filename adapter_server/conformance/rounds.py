"""Questions back to the client: results that say what is missing, until a later call brings it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from .contents import text

Context = ServerRequestContext[Any, Any]


def ask_person(message: str, **properties: str) -> types.ElicitRequest:
    """A form; properties are names and types, and all must be filled in."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def ask_model(words: str, *, max_tokens: int = 100) -> types.CreateMessageRequest:
    """One message to the client's model."""
    message = types.SamplingMessage(role="user", content=text(words))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


NAME = ask_person("What is your name?", name="string")
CONFIRM = ask_person("Please confirm", ok="boolean")
CAPITAL = ask_model("What is the capital of France?")
ROOTS = types.ListRootsRequest()


class Rounds(msgspec.Struct, frozen=True, kw_only=True):
    """A tool or prompt that asks back.

    Attributes:
        asks: what each round asks for.
        answer: the last result's text, from the responses of the last round.
        has_state: whether the client carries along how far it came.
        is_choosy: whether it asks only for what the client can do, instead of refusing one that cannot.
    """

    asks: Sequence[types.InputRequests]
    answer: Callable[[types.InputResponses], str]
    has_state: bool = False
    is_choosy: bool = False


ROUNDS: Mapping[str, Rounds] = {
    "test_input_required_result_elicitation": Rounds(
        asks=[{"user_name": NAME}], answer=lambda given: f"Hello, {_field(given['user_name'], 'name')}!"
    ),
    "test_input_required_result_sampling": Rounds(
        asks=[{"capital_question": CAPITAL}], answer=lambda given: _spoken(given["capital_question"])
    ),
    "test_input_required_result_list_roots": Rounds(
        asks=[{"client_roots": ROOTS}], answer=lambda given: given["client_roots"].model_dump_json()
    ),
    "test_input_required_result_request_state": Rounds(
        asks=[{"confirm": CONFIRM}], answer=lambda _: "state-ok", has_state=True
    ),
    "test_input_required_result_multiple_inputs": Rounds(
        asks=[
            {
                "user_name": NAME,
                "greeting": ask_model("Generate a greeting", max_tokens=50),
                "client_roots": ROOTS,
            }
        ],
        answer=lambda given: f"{_spoken(given['greeting'])}, {_field(given['user_name'], 'name')}!",
        has_state=True,
    ),
    "test_input_required_result_multi_round": Rounds(
        asks=[
            {"step1": ask_person("Step 1: What is your name?", name="string")},
            {"step2": ask_person("Step 2: What is your favorite color?", color="string")},
        ],
        answer=lambda given: f"You like {_field(given['step2'], 'color')}.",
        has_state=True,
    ),
    "test_input_required_result_tampered_state": Rounds(
        asks=[{"confirm": CONFIRM}], answer=lambda _: "confirmed", has_state=True
    ),
    "test_input_required_result_capabilities": Rounds(
        asks=[{"user_name": NAME, "capital_question": CAPITAL}], answer=lambda _: "answered", is_choosy=True
    ),
    "test_streaming_elicitation": Rounds(asks=[{"user_name": NAME}], answer=lambda _: "answered"),
}
PROMPT_ROUNDS = Rounds(
    asks=[{"user_context": ask_person("What context should the prompt use?", context="string")}],
    answer=lambda given: f"Context: {_field(given['user_context'], 'context')}",
)


def next_round(
    rounds: Rounds, ctx: Context, params: types.InputResponseRequestParams
) -> types.InputRequiredResult | str:
    """What to ask now, or the answer when everything was asked.

    Raises:
        MCPError: the client cannot do what would be asked of it.
    """
    at = int(params.request_state or 0) if rounds.has_state else 0
    given = params.input_responses or {}
    if all(_answers(request, given.get(key)) for key, request in rounds.asks[at].items()):
        at += 1
    if at == len(rounds.asks):
        return rounds.answer(given)
    asks = {key: request for key, request in rounds.asks[at].items() if not rounds.is_choosy or can(ctx, request)}
    for request in asks.values():
        need(ctx, request)
    return types.InputRequiredResult(input_requests=asks, request_state=str(at) if rounds.has_state else None)


def can(ctx: Context, request: types.InputRequest) -> bool:
    """Whether the client has said that it can be asked this."""
    return ctx.session.check_client_capability(_capability(request))


def need(ctx: Context, request: types.InputRequest) -> None:
    """Refuse a call whose client cannot be asked this.

    Raises:
        MCPError: it cannot; the error names what it lacks.
    """
    if not can(ctx, request):
        lacking = types.MissingRequiredClientCapabilityErrorData(required_capabilities=_capability(request))
        data = lacking.model_dump(by_alias=True, exclude_none=True)
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"the client has no {request.method}", data)


def _capability(request: types.InputRequest) -> types.ClientCapabilities:
    match request:
        case types.ElicitRequest():
            return types.ClientCapabilities(elicitation=types.ElicitationCapability())
        case types.CreateMessageRequest():
            return types.ClientCapabilities(sampling=types.SamplingCapability())
        case types.ListRootsRequest():
            return types.ClientCapabilities(roots=types.RootsCapability())


def _answers(request: types.InputRequest, response: types.InputResponse | None) -> bool:
    match request, response:
        case types.ElicitRequest(params=types.ElicitRequestFormParams() as form), types.ElicitResult() as filled:
            wanted: list[str] = form.requested_schema["required"]
            return filled.action != "accept" or all(name in (filled.content or {}) for name in wanted)
        case types.CreateMessageRequest(), types.CreateMessageResult() | types.CreateMessageResultWithTools():
            return True
        case types.ListRootsRequest(), types.ListRootsResult():
            return True
        case _:
            return False


def _field(response: types.InputResponse, name: str) -> str:
    content = response.content if isinstance(response, types.ElicitResult) else None
    return str((content or {}).get(name, "nobody"))


def _spoken(response: types.InputResponse) -> str:
    content = response.content if isinstance(response, types.CreateMessageResult) else None
    return content.text if isinstance(content, types.TextContent) else "nothing"
