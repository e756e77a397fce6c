"""The wire format of queue messages: after an upgrade, the queues contain messages of the previous version."""

import orjson
import pytest
from pydantic import ValidationError

from cupel_core.base.messages import Cause, DispatchRequest, GenerationRequest, ProbeSlice

DISPATCH = {"workspace": "ws_a", "runId": "run_a", "fencingToken": 2, "attemptsWithoutRoom": 3}
SLICE = {
    "workspace": "ws_a",
    "runId": "run_a",
    "fencingToken": 2,
    "leaf": 1,
    "indexes": [100, 101],
    "handoffs": 1,
    "failures": 1,
    "begun": [101],
}
GENERATION = {"workspace": "ws_a", "definitionId": "def_a", "generationId": "gen_a"}


@pytest.mark.parametrize(
    ("model", "body"), [(DispatchRequest, DISPATCH), (ProbeSlice, SLICE), (GenerationRequest, GENERATION)]
)
def test_a_message_is_serialized_with_the_field_names_it_is_parsed_with(
    model: type[DispatchRequest | ProbeSlice | GenerationRequest], body: dict[str, object]
) -> None:
    assert orjson.loads(model.model_validate(body).to_body()) == body


def test_a_message_with_an_unknown_field_is_rejected() -> None:
    with pytest.raises(ValidationError):
        DispatchRequest.model_validate(DISPATCH | {"unknown": 1})


def test_the_cause_of_a_failed_state_is_truncated_to_1000_characters() -> None:
    cause = Cause.model_validate({"Error": "Lambda.Unknown", "Cause": "x" * 2_000})
    assert cause.describe() == f"Lambda.Unknown: {'x' * 984}"
