"""Errors keep their type, their advice and their facts on the way to the caller."""

import pytest

from bus.errors import ERRORS, CallerError, Internal, ServiceError, StaleFence, error_from_fields

RETRYABLE = {"rate_limited", "deadline", "infra_pause", "queue_full", "storage_unavailable", "connection_lost"}


@pytest.mark.parametrize("code", sorted(ERRORS))
def test_every_error_survives_the_way(code: str) -> None:
    error = error_from_fields(ERRORS[code]("what", hint="do", nearest=["a"]).to_fields())
    assert type(error) is ERRORS[code]
    assert (error.message, error.hint, error.facts) == ("what", "do", {"nearest": ["a"]})


@pytest.mark.parametrize("code", sorted(ERRORS))
def test_every_error_is_documented_and_blames_one_side(code: str) -> None:
    kind = ERRORS[code]
    assert kind.__doc__
    assert issubclass(kind, CallerError) != issubclass(kind, ServiceError)
    assert kind.is_retryable == (code in RETRYABLE)


def test_facts_cannot_hide_the_fixed_fields() -> None:
    fields = StaleFence("what", code="mine", retry=True, owner="ada").to_fields()
    assert fields == {"code": "stale_fence", "message": "what", "retry": False, "hint": "", "owner": "ada"}


@pytest.mark.parametrize("fields", [{}, {"code": "from_the_future"}, {"code": 7, "self": 1, "message": None}])
def test_what_is_not_known_becomes_internal(fields: dict[str, object]) -> None:
    error = error_from_fields(fields)
    assert isinstance(error, Internal)
    assert error.message
    assert error.facts["remote_code"] == str(fields.get("code", ""))
