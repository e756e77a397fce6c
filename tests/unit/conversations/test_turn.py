"""The structured output of an answer."""

from typing import Any

import pytest

from cupel_core.conversations.turn import output_of
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_parameters import ResponseFormat
from cupel_core.domain.conversations.model_request import Reply

CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
OF_CITY = ResponseFormat.of_schema(CITY)
ANY_JSON, TEXT = decode(ResponseFormat, {"type": "json"}), decode(ResponseFormat, {"type": "text"})


@pytest.mark.parametrize(
    ("answer", "reply_format", "output"),
    [
        ('{"city": "Bonn"}', OF_CITY, {"city": "Bonn"}),
        ('{"city": 7}', OF_CITY, None),
        ("{}", OF_CITY, None),
        ('{"city": "Bonn"', OF_CITY, None),
        ('["Bonn"]', OF_CITY, None),
        ('{"city": 7}', ANY_JSON, {"city": 7}),
        ("7", ANY_JSON, None),
        ('{"city": "Bonn"}', TEXT, None),
        ('{"city": "Bonn"}', None, None),
    ],
)
async def test_an_answer_of_the_requested_format_is_the_output(
    answer: str, reply_format: ResponseFormat | None, output: dict[str, Any] | None
) -> None:
    assert await output_of(Reply(answer), reply_format) == output


async def test_what_an_agent_returns_beside_its_text_is_the_output() -> None:
    assert await output_of(Reply("Bonn", output={"steps": 2}), OF_CITY) == {"steps": 2}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "#/definitions/none"}}},
        {"type": "object", "properties": {"a": {"pattern": "^(x+x+)+y$"}}},
    ],
)
async def test_a_schema_that_cannot_be_applied_leaves_the_answer_a_text(schema: dict[str, Any]) -> None:
    answer = '{"a": "' + "x" * 40 + '"}'
    assert await output_of(Reply(answer), ResponseFormat.of_schema(schema)) is None
