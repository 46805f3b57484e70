"""JSON-RPC 2.0 as bytes in and bytes out, without any I/O.

Errors carry their typed fields as `data`. Batches are not offered: one WebSocket message is one JSON-RPC message.
"""

from typing import Any, Literal, TypeAlias, TypeVar, cast

import msgspec

from .errors import (
    AdapterError,
    BadArguments,
    BadMessage,
    Internal,
    TooLarge,
    UnknownMethod,
    error_from_fields,
)

MESSAGE_CAP_BYTES = 1 << 20
ANSWER_CAP_BYTES = 16 * MESSAGE_CAP_BYTES

Id: TypeAlias = int | str
T = TypeVar("T")

_NOTHING = msgspec.Raw(b"{}")
_NUMBERS: dict[str, int] = {BadMessage.code: -32600, UnknownMethod.code: -32601, BadArguments.code: -32602}
_MALFORMED = -32700
_INTERNAL = -32603
_OTHER = -32000


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A call that wants an answer."""

    id: Id
    method: str
    params: msgspec.Raw


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """A message that wants none."""

    method: str
    params: msgspec.Raw


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call that worked."""

    id: Id
    result: msgspec.Raw


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call that did not; without an id the other side could not read the call."""

    id: Id | None
    error: AdapterError


Message: TypeAlias = Request | Notification | Reply | Refusal


class _WireError(msgspec.Struct, frozen=True, kw_only=True):
    code: int
    message: str
    data: Any = None


class _Wire(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    jsonrpc: Literal["2.0"]
    id: Id | msgspec.UnsetType | None = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: _WireError | msgspec.UnsetType = msgspec.UNSET


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    id: Id | None = None


class MalformedText(BadMessage):
    """The text is not JSON at all; travels as bad_message with the number that JSON-RPC has for it."""


def encode_request(number: Id, /, *, method: str, params: msgspec.Struct) -> bytes:
    """Write a call."""
    return _encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def encode_notification(method: str, /, *, params: msgspec.Struct) -> bytes:
    """Write a message that wants no answer."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def encode_reply(number: Id, /, *, result: msgspec.Struct) -> bytes:
    """Write the answer to a call that worked.

    Raises:
        TooLarge: no link would read it.
    """
    data = _encode({"jsonrpc": "2.0", "id": number, "result": result})
    if len(data) > ANSWER_CAP_BYTES:
        raise TooLarge(f"the answer is over {ANSWER_CAP_BYTES} bytes", cap=ANSWER_CAP_BYTES)
    return data


def encode_refusal(number: Id | None, /, *, error: AdapterError) -> bytes:
    """Write the answer to a call that did not; facts that JSON cannot express become text or are left out."""
    wire = {"code": _number(error), "message": error.message, "data": error.to_fields()}
    try:
        return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "error": wire}, enc_hook=str)
    except (ValueError, TypeError, RecursionError):
        plain = type(error)(ascii(error.message), hint=ascii(error.hint)).to_fields()
        wire = {"code": _number(error), "message": ascii(error.message), "data": plain}
        return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "error": wire})


def decode(data: bytes | str, /, *, cap_bytes: int = MESSAGE_CAP_BYTES) -> Message:
    """Read one message; parameters and results stay unread.

    Raises:
        TooLarge: it is over the cap; nothing of it was read.
        BadMessage: it is not JSON-RPC 2.0.
    """
    wire = _read(_bounded(data, cap_bytes))
    match wire:
        case _Wire(method=str(method), result=msgspec.UNSET, error=msgspec.UNSET):
            params = _NOTHING if isinstance(wire.params, msgspec.UnsetType) else wire.params
            if isinstance(wire.id, msgspec.UnsetType):
                return Notification(method=method, params=params)
            if wire.id is not None:
                return Request(id=wire.id, method=method, params=params)
        case _Wire(id=int() | str() as number, result=msgspec.Raw() as result, error=msgspec.UNSET):
            return Reply(id=number, result=result)
        case _Wire(id=None | int() | str() as number, error=_WireError() as error, result=msgspec.UNSET):
            return Refusal(id=number, error=_error(error))
        case _:
            pass
    raise BadMessage("the message is neither a call, nor a notification, nor an answer of JSON-RPC 2.0")


def readable_id(data: bytes | str, /, *, cap_bytes: int = MESSAGE_CAP_BYTES) -> Id | None:
    """Find the id of a message that `decode` refused, so that its sender learns which call it was."""
    try:
        return msgspec.json.decode(_bounded(data, cap_bytes), type=_Named).id
    except (AdapterError, msgspec.DecodeError, RecursionError):
        return None


def decode_params(params: msgspec.Raw, into: type[T], /) -> T:
    """Read parameters.

    Raises:
        BadArguments: they are not what the method takes; the message names the field.
    """
    try:
        return msgspec.json.decode(params, type=into)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadArguments(f"the parameters are wrong: {error}") from None


def decode_result(result: msgspec.Raw, into: type[T], /) -> T:
    """Read a result.

    Raises:
        BadMessage: it is something else; the two sides are of different versions.
    """
    try:
        return msgspec.json.decode(result, type=into)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadMessage(f"the answer is not a {into.__name__}: {error}") from None


def _bounded(data: bytes | str, cap_bytes: int) -> str:
    """Return the text of a message that is short enough and can be written again."""
    if len(data) > cap_bytes:
        raise TooLarge(f"a message has at most {cap_bytes} bytes, this one has {len(data)}", cap=cap_bytes)
    try:
        text = data if isinstance(data, str) else data.decode()
        size = len(text.encode())
    except UnicodeError:
        raise MalformedText("the message is not UTF-8") from None
    if size > cap_bytes:
        raise TooLarge(f"a message has at most {cap_bytes} bytes, this one has {size}", cap=cap_bytes)
    return text


def _read(text: str) -> _Wire:
    try:
        return msgspec.json.decode(text, type=_Wire)
    except msgspec.ValidationError as error:
        raise BadMessage(f"the message is not JSON-RPC 2.0: {error}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedText(f"the message is not JSON: {error}") from None


def _encode(message: dict[str, object]) -> bytes:
    return msgspec.json.encode(message)


def _number(error: AdapterError) -> int:
    if isinstance(error, MalformedText):
        return _MALFORMED
    return _INTERNAL if isinstance(error, Internal) else _NUMBERS.get(error.code, _OTHER)


def _error(wire: _WireError) -> AdapterError:
    """Rebuild the typed error; one without our fields gets the type that its number has."""
    data: object = wire.data
    if isinstance(data, dict) and "code" in (fields := cast("dict[str, object]", data)):
        return error_from_fields(fields)
    codes = {number: code for code, number in _NUMBERS.items()} | {_MALFORMED: BadMessage.code}
    code = codes.get(wire.code, Internal.code)
    return error_from_fields({"code": code, "message": wire.message, "number": wire.code})
