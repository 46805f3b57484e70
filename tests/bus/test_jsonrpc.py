"""The codec reads what it writes, and whatever else arrives is a typed error."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus.errors import ERRORS, AdapterError, BadArguments, BadMessage, TooLarge, UnknownMethod
from bus.jsonrpc import (
    MESSAGE_CAP_BYTES,
    Message,
    Notification,
    Refusal,
    Reply,
    Request,
    decode,
    decode_params,
    decode_result,
    encode_notification,
    encode_refusal,
    encode_reply,
    encode_request,
    readable_id,
)
from bus.messages import EpisodeRef, Event

from .conftest import Say

ids = st.integers(-(2**63), 2**64 - 1) | st.text()
words = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=10,
)
events = st.builds(
    Event,
    episode=words,
    seq=st.integers(1, 2**53),
    kind=st.sampled_from(["node_added", "lemma_accepted"]),
    actor=words,
    at_ms=st.integers(0, 2**53),
    body=st.dictionaries(words, values, max_size=4),
)


def read(data: bytes | str) -> Message | None:
    """Decode, and tolerate only the errors that the codec promises."""
    try:
        return decode(data)
    except (BadMessage, TooLarge) as error:
        readable_id(data)
        answer = encode_refusal(None, error=error)
    decode(answer)
    return None


@given(st.binary() | st.text())
def test_arbitrary_input_is_a_message_or_a_typed_error(data: bytes | str) -> None:
    read(data)


@given(
    st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), values | st.just("2.0"))
)
def test_arbitrary_json_is_a_message_or_a_typed_error(fields: dict[str, Any]) -> None:
    fields["jsonrpc"] = "2.0"
    message = read(json.dumps(fields))
    if isinstance(message, Request | Notification):
        with_params = message.params
        try:
            decode_params(with_params, Say)
        except BadArguments:
            return


@given(ids, words, events)
def test_a_call_survives_the_way(number: int | str, method: str, params: Event) -> None:
    try:
        data = encode_request(number, method=method, params=params)
    except UnicodeEncodeError:
        return
    message = decode(data)
    assert isinstance(message, Request)
    assert (message.id, message.method, decode_params(message.params, Event)) == (number, method, params)
    assert readable_id(data) == number


@given(words, events)
def test_a_notification_survives_the_way(method: str, params: Event) -> None:
    message = decode(encode_notification(method, params=params).decode())
    assert isinstance(message, Notification)
    assert (message.method, decode_params(message.params, Event)) == (method, params)


@given(st.integers(), events)
def test_an_answer_survives_the_way(number: int, result: Event) -> None:
    message = read(encode_reply(number, result=result))
    if -(2**63) <= number < 2**64:
        assert isinstance(message, Reply)
        assert (message.id, decode_result(message.result, Event)) == (number, result)


@given(
    st.none() | st.integers(0, 2**31),
    st.sampled_from(sorted(ERRORS)),
    words,
    words,
    st.dictionaries(words.filter(lambda name: name not in {"code", "message", "retry", "hint"}), values, max_size=3),
)
def test_a_refusal_survives_the_way(number: int | None, code: str, text: str, hint: str, facts: dict[str, Any]) -> None:
    message = decode(encode_refusal(number, error=ERRORS[code](text, hint=hint, **facts)))
    assert isinstance(message, Refusal)
    assert message.id == number
    error = message.error
    assert (type(error), error.message, error.hint, error.facts) == (ERRORS[code], text, hint, facts)


@pytest.mark.parametrize(
    ("data", "number"),
    [
        (b"\xff", -32700),
        ('"\ud800"', -32700),
        (b"{", -32700),
        (b'{"jsonrpc":' + b"[" * 100_000, -32600),
        (b'{"other":' + b"[" * 100_000, -32700),
        (b"", -32700),
        (b"[]", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"say"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"say"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"say"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}', -32600),
        (b'{"jsonrpc":"2.0","method":"say","result":1}', -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"say"}]', -32600),
    ],
)
def test_each_kind_of_nonsense_has_its_number(data: bytes | str, number: int) -> None:
    with pytest.raises(BadMessage) as caught:
        decode(data)
    sent = json.loads(encode_refusal(None, error=caught.value))
    assert sent["error"]["code"] == number
    assert sent["error"]["data"]["code"] == "bad_message"


@pytest.mark.parametrize("filler", ["x", "ä"])
def test_a_message_over_the_cap_is_refused_unread(filler: str) -> None:
    assert isinstance(
        decode('{"jsonrpc":"2.0","method":"x","params":"%s"}' % ("x" * (MESSAGE_CAP_BYTES - 44))), Notification
    )
    data = filler * (MESSAGE_CAP_BYTES // len(filler.encode()) + 1)
    for message in (data, data.encode()):
        with pytest.raises(TooLarge) as caught:
            decode(message)
        assert caught.value.facts == {"cap": MESSAGE_CAP_BYTES}
        assert readable_id(message) is None


def test_the_id_of_an_unreadable_call_is_found() -> None:
    assert readable_id(b'{"jsonrpc":"2.0","id":"a","method":7}') == "a"
    assert readable_id(b'{"id":[') is None


def test_missing_parameters_are_an_empty_object() -> None:
    message = decode(b'{"jsonrpc":"2.0","id":1,"method":"say"}')
    assert isinstance(message, Request)
    with pytest.raises(BadArguments, match="episode"):
        decode_params(message.params, EpisodeRef)


@pytest.mark.parametrize(
    "params", [b'{"text":1}', b'{"text":"a","tex":"b"}', b"[1]", b"null", b'{"text":"' + b"\xff" + b'"}']
)
def test_wrong_parameters_are_named(params: bytes) -> None:
    with pytest.raises(BadArguments, match="parameters are wrong"):
        decode_params(msgspec.Raw(params), Say)


def test_deeply_nested_parameters_are_refused() -> None:
    with pytest.raises(BadArguments):
        decode_params(msgspec.Raw(b"[" * 100_000), Say)


def test_an_answer_of_another_type_is_refused() -> None:
    with pytest.raises(BadMessage, match="EpisodeRef"):
        decode_result(msgspec.Raw(b"[]"), EpisodeRef)


@pytest.mark.parametrize(
    ("wire", "code"),
    [
        ({"code": -32601, "message": "no"}, "unknown_method"),
        ({"code": -32602, "message": "no", "data": "text"}, "bad_arguments"),
        ({"code": -32700, "message": "no", "data": {"x": 1}}, "bad_message"),
        ({"code": 12, "message": "no"}, "internal"),
    ],
)
def test_an_error_of_a_foreign_server_gets_the_type_of_its_number(wire: dict[str, Any], code: str) -> None:
    message = decode(json.dumps({"jsonrpc": "2.0", "id": 1, "error": wire}))
    assert isinstance(message, Refusal)
    assert message.error.code == code
    assert message.error.facts["number"] == wire["code"]


def test_facts_that_json_cannot_express_are_written_as_text() -> None:
    error: AdapterError = UnknownMethod("no", where={1, 2}, what=pytest)
    message = decode(encode_refusal(1, error=error))
    assert isinstance(message, Refusal)
    assert "pytest" in str(message.error.facts["what"])
