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


@pytest.mark.parametrize(
    ("names", "passed"),
    [
        (("pass", "score"), {"pass": True, "score": 1.0}),
        (("successMet", "failureMet"), {"successMet": True, "failureMet": False}),
    ],
)
async def test_the_lenient_judge_gives_the_fields_of_one_verdict(
    names: tuple[str, ...], passed: dict[str, object]
) -> None:
    kinds = {name: {"type": "number" if name == "score" else "boolean"} for name in names}
    schema = {"type": "object", "properties": {**kinds, "reason": {"type": "string"}}}
    parameters = ModelParameters(response_format=ResponseFormat.of_schema(schema))
    failed = {name: not value if isinstance(value, bool) else 0.0 for name, value in passed.items()}
    found = []
    for number in range(40):
        messages = (Message(MessageRole.USER, f'{{"output": "Case {number}. Rating: 1"}}'),)
        reply = json.loads((await complete(ACCOUNT, "sim/lenient", ModelRequest(messages, parameters), 5)).text)
        found.append({name: reply[name] for name in names})
    assert all(each in (passed, failed) for each in found)
    assert 8 <= found.count(passed) <= 24
