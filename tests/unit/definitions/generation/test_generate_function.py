"""The function behind the generate queue."""

from typing import Any

import pytest

from generate import app
from tests.lambda_context import Context

pytestmark = pytest.mark.usefixtures("cloud")

ORDER = '{"workspace": "ws", "definitionId": "def_1", "generationId": "gen_1"}'


def handle(body: str, receives: int = 1) -> list[str]:
    record = {
        "messageId": "m1",
        "body": body,
        "attributes": {"ApproximateReceiveCount": str(receives)},
        "eventSource": "aws:sqs",
    }
    event: dict[str, Any] = {"Records": [record]}
    return [failure["itemIdentifier"] for failure in app.handler(event, Context())["batchItemFailures"]]


@pytest.mark.parametrize("body", ["", "nonsense", "{}", '{"workspace": 1}'])
def test_a_poison_message_is_reported_as_failed(body: str) -> None:
    assert handle(body) == ["m1"]


@pytest.mark.parametrize("receives", [1, 4])
def test_a_request_for_an_unknown_generation_is_reported_as_failed(receives: int) -> None:
    assert handle(ORDER, receives) == ["m1"]
