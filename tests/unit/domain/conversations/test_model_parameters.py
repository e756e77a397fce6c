"""Fields of a request's body that only servers of the user's own know."""

from typing import Any

import pytest

from cupel_core.domain.conversations.model_parameters import (
    MAX_EXTRA_BODY_BYTES,
    MAX_EXTRA_BODY_DEPTH,
    extra_body_error,
)


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth > 1 else {}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"chat_template_kwargs": {"enable_thinking": False}, "min_p": 0.05, "repetition_penalty": 1.1},
        {"logprobs": True, "top_logprobs": 5},
        nested(MAX_EXTRA_BODY_DEPTH),
        {"a": "x" * (MAX_EXTRA_BODY_BYTES - 9)},
    ],
)
def test_fields_that_cupel_does_not_set_are_accepted(body: dict[str, Any]) -> None:
    assert extra_body_error(body) is None


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"model": "x"}, "must not have model, which Cupel sets itself"),
        ({"min_p": 1, "messages": []}, "must not have messages, which Cupel sets itself"),
        ({"stream": True}, "must not have stream, which Cupel sets itself"),
        ({"input": "x"}, "must not have input, which Cupel sets itself"),
        ({"n": 2}, "must not have n, which Cupel sets itself"),
        ({"max_tokens": 5}, "must not have max_tokens: the parameter maxOutputTokens sets it"),
        ({"temperature": 0}, "must not have temperature: the parameter temperature sets it"),
        (nested(MAX_EXTRA_BODY_DEPTH + 1), "must not be nested deeper than 10"),
        ({"a": "x" * (MAX_EXTRA_BODY_BYTES - 8)}, "must have at most 16,000 bytes as JSON"),
        ({"a": float("nan")}, "must not contain numbers that are not finite, as in a"),
    ],
)
def test_other_fields_are_refused(body: dict[str, Any], problem: str) -> None:
    assert extra_body_error(body) == problem
