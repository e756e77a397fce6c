"""The bench model server, seen by the code that talks to real providers."""

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import httpx
import pytest

from bench.model_server import FAULTS, Behaviour, ModelServer, behaviour_of, serving
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Message, Reply, Role
from cupel_core.providers import http
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete, complete_with_retry
from cupel_core.providers.errors import ProviderError

PATHS = {"openai": "v1", "custom": "v1", "anthropic": "v1", "google": "v1beta"}


@pytest.fixture(autouse=True)
async def _connections() -> AsyncIterator[None]:
    yield
    await http.close()


def says(text: str, **options: Any) -> Conversation:
    return Conversation((Message(Role.SYSTEM, "Be brief."), Message(Role.USER, text)), **options)


async def ask(base_url: str, text: str | Conversation = "Hello", provider: str = "openai", seconds: float = 5) -> Reply:
    account = Account(provider, f"{base_url}/{PATHS[provider]}", "sk-test")
    conversation = says(text) if isinstance(text, str) else text
    return await complete(account, f"{provider}/m", conversation, seconds)


async def counts(base_url: str) -> dict[str, Any]:
    async with httpx.AsyncClient() as client:
        return dict((await client.get(f"{base_url}/counts")).json())


@pytest.mark.parametrize("provider", PATHS)
async def test_each_format_answers_with_a_rating(provider: str) -> None:
    async with serving(ModelServer()) as base_url:
        reply = await ask(base_url, provider=provider)
        assert reply == await ask(base_url, provider=provider)
    assert reply.text.splitlines()[-1].startswith("Rating: ")
    assert reply.model_version == "m-bench-1"
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0


async def test_all_formats_read_the_same_prompt() -> None:
    async with serving(ModelServer()) as base_url:
        texts = {(await ask(base_url, provider=provider)).text for provider in PATHS}
        assert list((await counts(base_url))["prompts"].values()) == [len(PATHS)]
    assert len(texts) == 1


@pytest.mark.parametrize("provider", PATHS)
async def test_a_schema_is_answered_with_json(provider: str) -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"code": {"const": "4"}}}
    async with serving(ModelServer()) as base_url:
        assert (await ask(base_url, says("Judge", json_schema=schema), provider)).text == '{"code":"4"}'


@pytest.mark.parametrize("provider", PATHS)
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("429", ErrorCode.RATE_LIMITED),
        ("500", ErrorCode.PROVIDER_ERROR),
        ("drop", ErrorCode.NETWORK),
        ("hang", ErrorCode.TIMEOUT),
        ("badJson", ErrorCode.PROVIDER_ERROR),
    ],
)
async def test_each_fault_has_its_code(fault: str, code: ErrorCode, provider: str) -> None:
    behaviour = Behaviour(rates={fault: 1.0}, retry_after_seconds=3)
    async with serving(ModelServer(behaviour)) as base_url:
        with pytest.raises(ProviderError) as caught:
            await ask(base_url, provider=provider, seconds=0.2)
        assert (await counts(base_url))["byStatus"] == {fault: 1}
    assert caught.value.code is code
    assert caught.value.retry_after == (3 if fault == "429" else None)


async def test_a_server_that_is_not_there_is_a_network_error() -> None:
    async with serving(ModelServer()) as base_url:
        pass
    with pytest.raises(ProviderError) as caught:
        await ask(base_url)
    assert caught.value.code is ErrorCode.NETWORK


async def test_retries_save_every_call_from_passing_faults() -> None:
    rates = dict.fromkeys(("429", "500", "drop", "badJson"), 0.06)
    behaviour = Behaviour(rates=rates, retry_after_seconds=0, seed=3)
    server = ModelServer(behaviour)
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with serving(server) as base_url:
        account = Account("custom", f"{base_url}/v1")
        for number in range(60):
            reply = await complete_with_retry(
                account,
                "custom/m",
                says(f"Question {number}"),
                timeout_seconds=5,
                patience_seconds=60,
                rng=Random(1),
                sleep=sleep,
            )
            assert "Rating: " in reply.text
    assert len(waits) == server.counts.requests - 60
    assert len(waits) > 5
    assert server.counts.by_status["200"] == 60
    assert len(server.counts.prompts) == 60


async def test_faults_come_at_their_rate_and_the_same_for_a_seed() -> None:
    behaviour = Behaviour(rates=dict.fromkeys(FAULTS, 0.05))
    prompts = [_prompt(f"Question {number}") for number in range(2000)]
    drawn = [behaviour.fault_of(prompt, 1) for prompt in prompts]
    assert drawn == [behaviour.fault_of(prompt, 1) for prompt in prompts]
    assert drawn != [behaviour.fault_of(prompt, 2) for prompt in prompts]
    assert all(0.03 < drawn.count(fault) / 2000 < 0.07 for fault in FAULTS)


def _prompt(text: str) -> Any:
    from bench.model_formats import Prompt

    return Prompt("m", text, text)


async def test_a_script_answers_what_contains_its_words() -> None:
    async with serving(ModelServer()) as base_url:
        await _post(
            base_url,
            "configure",
            {
                "answer": "Otherwise",
                "script": [
                    {"contains": "fire", "reply": "Run."},
                    {"contains": "judge", "reply": {"met": True}},
                    {"contains": "poison", "reply": "no", "status": 400},
                ],
            },
        )
        assert (await ask(base_url, "A fire!")).text == "Run."
        assert (await ask(base_url, "Please judge")).text == '{"met":true}'
        assert (await ask(base_url, "Else")).text == "Otherwise"
        with pytest.raises(ProviderError) as caught:
            await ask(base_url, "poison")
    assert caught.value.code is ErrorCode.INVALID_REQUEST


async def test_configure_changes_only_what_it_names() -> None:
    server = ModelServer(Behaviour(seed=9, latency_seconds=0.001))
    async with serving(server) as base_url:
        await _post(base_url, "configure", {"rates": {"500": 1}})
    assert server.behaviour == Behaviour(seed=9, latency_seconds=0.001, rates={"500": 1.0})


async def test_reset_forgets_the_counts() -> None:
    async with serving(ModelServer()) as base_url:
        await ask(base_url)
        before = await counts(base_url)
        await _post(base_url, "reset", {})
        after = await counts(base_url)
    assert (before["requests"], before["inFlightPeak"]) == (1, 1)
    assert before["firstRequestAt"] is not None
    assert (after["requests"], after["prompts"], after["firstRequestAt"]) == (0, {}, None)


async def _post(base_url: str, path: str, body: dict[str, Any]) -> None:
    async with httpx.AsyncClient() as client:
        (await client.post(f"{base_url}/{path}", json=body)).raise_for_status()


def test_the_command_line_says_how_to_behave() -> None:
    options = ["--latency", "0.2", "--rate-429", "0.05", "--rate-bad-json", "0.01", "--seed", "7", "--port", "8123"]
    behaviour, port = behaviour_of(options)
    assert behaviour == Behaviour(latency_seconds=0.2, rates={"429": 0.05, "badJson": 0.01}, seed=7)
    assert port == 8123
