import json

import pytest

from cupel_core.domain.conversations.model_parameters import ModelParameters, ResponseFormat
from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    SimulationKey,
)
from cupel_core.domain.conversations.simulation import should_fail
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.sim import MODEL_VERSION

ACCOUNT = Account("sim", "")


def about(scenario_id: str) -> ModelRequest:
    return ModelRequest(
        (Message(MessageRole.USER, "Act. End with Rating: N"),),
        simulation_key=SimulationKey(scenario_id, {"risk": 4.0}),
    )


async def test_a_simulated_model_answers_without_network_or_key() -> None:
    reply = await complete(ACCOUNT, "sim/steady", about("scn_1"), 5)
    assert reply.model_version == MODEL_VERSION
    assert reply.text.splitlines()[-1].startswith("Rating: ")
    assert reply.usage.input_tokens == 6
    assert reply.usage.output_tokens > 10


async def test_flaky_fails_without_retry() -> None:
    unlucky = next(case for case in (about(f"scn_{n}") for n in range(100)) if should_fail("flaky", case))
    with pytest.raises(ProviderError) as caught:
        await complete(ACCOUNT, "sim/flaky", unlucky, 5)
    assert caught.value.code is ProbeErrorCode.PROVIDER_ERROR
    assert not caught.value.retryable


async def test_a_schema_is_answered_with_json() -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"code": {"enum": ["1", "2"]}}}
    asked = ModelRequest(
        (Message(MessageRole.USER, "Judge."),), ModelParameters(response_format=ResponseFormat.of_schema(schema))
    )
    assert json.loads((await complete(ACCOUNT, "sim/bold", asked, 5)).text)["code"] in ("1", "2")


async def test_an_unknown_simulated_model_is_an_invalid_request() -> None:
    with pytest.raises(ProviderError) as caught:
        await complete(ACCOUNT, "sim/clever", about("scn_1"), 5)
    assert caught.value.code is ProbeErrorCode.INVALID_REQUEST
    assert "sim/steady" in caught.value.message
