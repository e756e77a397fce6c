"""The bench model server, called by the code that calls real providers."""

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import httpx
import pytest

from bench.model_server import FAULTS, Behaviour, ModelServer, behaviour_of, parse_options, serving
from cupel_core.domain.conversations.model_parameters import ModelParameters, ResponseFormat
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers import safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete, complete_with_retry
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.streaming import complete_streaming

PATHS = {"openai": "v1", "custom": "v1", "anthropic": "v1", "google": "v1beta"}


@pytest.fixture(autouse=True)
async def _connections() -> AsyncIterator[None]:
    yield
    await safe_http.close()


def request_of(text: str, **options: Any) -> ModelRequest:
    return ModelRequest((Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, text)), **options)


async def call(
    base_url: str, text: str | ModelRequest = "Hello", provider: str = "openai", seconds: float = 5
) -> Reply:
    account = Account(provider, f"{base_url}/{PATHS[provider]}", "sk-test", allow_private=True)
    model_request = request_of(text) if isinstance(text, str) else text
    return await complete(account, f"{provider}/m", model_request, seconds)


async def counts(base_url: str) -> dict[str, Any]:
    async with httpx.AsyncClient() as client:
        return dict((await client.get(f"{base_url}/counts")).json())


@pytest.mark.parametrize("provider", PATHS)
async def test_each_format_replies_with_a_rating(provider: str) -> None:
    async with serving(ModelServer()) as base_url:
        reply = await call(base_url, provider=provider)
        assert reply == await call(base_url, provider=provider)
    assert reply.text.splitlines()[-1].startswith("Rating: ")
    assert reply.model_version == "m-bench-1"
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0


@pytest.mark.parametrize("provider", PATHS)
async def test_each_format_streams_the_same_reply(provider: str) -> None:
    texts: list[str] = []
    async with serving(ModelServer()) as base_url:
        account = Account(provider, f"{base_url}/{PATHS[provider]}", "sk-test", allow_private=True)
        reply = await complete_streaming(account, f"{provider}/m", request_of("Hello"), 5, texts.append)
        assert reply == await call(base_url, provider=provider)
    assert len(texts) > 1
    assert "".join(texts) == reply.text


async def test_a_stream_breaks_off_as_often_as_is_configured() -> None:
    async with serving(ModelServer(Behaviour(broken_streams=1))) as base_url:
        account = Account("custom", f"{base_url}/v1", allow_private=True)
        with pytest.raises(ProviderError, match="ClientPayloadError"):
            await complete_streaming(account, "custom/m", request_of("Hello"), 5, lambda _: None)
        assert (await complete_streaming(account, "custom/m", request_of("Hello"), 5, lambda _: None)).text


async def test_all_formats_parse_the_same_prompt() -> None:
    async with serving(ModelServer()) as base_url:
        texts = {(await call(base_url, provider=provider)).text for provider in PATHS}
        assert list((await counts(base_url))["prompts"].values()) == [len(PATHS)]
    assert len(texts) == 1


@pytest.mark.parametrize("provider", PATHS)
async def test_a_schema_gets_a_json_reply(provider: str) -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"code": {"const": "4"}}}
    async with serving(ModelServer()) as base_url:
        parameters = ModelParameters(response_format=ResponseFormat.of_schema(schema))
        asked = request_of("Judge", parameters=parameters)
        assert (await call(base_url, asked, provider)).text == '{"code":"4"}'


@pytest.mark.parametrize("provider", PATHS)
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("429", ProbeErrorCode.RATE_LIMITED),
        ("500", ProbeErrorCode.PROVIDER_ERROR),
        ("drop", ProbeErrorCode.NETWORK),
        ("hang", ProbeErrorCode.TIMEOUT),
        ("badJson", ProbeErrorCode.PROVIDER_ERROR),
    ],
)
async def test_each_fault_has_its_error_code(fault: str, code: ProbeErrorCode, provider: str) -> None:
    behaviour = Behaviour(rates={fault: 1.0}, retry_after_seconds=3)
    async with serving(ModelServer(behaviour)) as base_url:
        with pytest.raises(ProviderError) as caught:
            await call(base_url, provider=provider, seconds=1.0 if fault == "hang" else 20.0)
        assert (await counts(base_url))["byStatus"] == {fault: 1}
    assert caught.value.code is code
    assert caught.value.retry_after_seconds == (3 if fault == "429" else None)


async def test_an_unreachable_server_is_a_network_error() -> None:
    async with serving(ModelServer()) as base_url:
        pass
    with pytest.raises(ProviderError) as caught:
        await call(base_url)
    assert caught.value.code is ProbeErrorCode.NETWORK


async def test_retries_overcome_transient_faults() -> None:
    rates = dict.fromkeys(("429", "500", "drop", "badJson"), 0.06)
    behaviour = Behaviour(rates=rates, retry_after_seconds=0, seed=3)
    server = ModelServer(behaviour)
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with serving(server) as base_url:
        account = Account("custom", f"{base_url}/v1", allow_private=True)
        for number in range(60):
            reply = await complete_with_retry(
                account,
                "custom/m",
                request_of(f"Question {number}"),
                timeout_seconds=5,
                max_wait_seconds=60,
                rng=Random(1),
                sleep=sleep,
            )
            assert "Rating: " in reply.text
    assert len(waits) == server.counts.requests - 60
    assert len(waits) > 5
    assert server.counts.by_status["200"] == 60
    assert len(server.counts.prompts) == 60


async def test_faults_have_their_rate_and_are_determined_by_the_seed() -> None:
    behaviour = Behaviour(rates=dict.fromkeys(FAULTS, 0.05))
    prompts = [_prompt(f"Question {number}") for number in range(2000)]
    faults = [behaviour.fault_of(prompt, 1) for prompt in prompts]
    assert faults == [behaviour.fault_of(prompt, 1) for prompt in prompts]
    assert faults != [behaviour.fault_of(prompt, 2) for prompt in prompts]
    assert all(0.03 < faults.count(fault) / 2000 < 0.07 for fault in FAULTS)


def _prompt(text: str) -> Any:
    from bench.model_formats import Prompt

    return Prompt("m", text, text)


async def test_a_script_line_matches_prompts_that_contain_its_text() -> None:
    async with serving(ModelServer()) as base_url:
        await _post(
            base_url,
            "configure",
            {
                "answer": "Default",
                "script": [
                    {"contains": "fire", "reply": "Run."},
                    {"contains": "judge", "reply": {"met": True}},
                    {"contains": "poison", "reply": "no", "status": 400},
                ],
            },
        )
        assert (await call(base_url, "A fire!")).text == "Run."
        assert (await call(base_url, "Please judge")).text == '{"met":true}'
        assert (await call(base_url, "Something else")).text == "Default"
        with pytest.raises(ProviderError) as caught:
            await call(base_url, "poison")
    assert caught.value.code is ProbeErrorCode.INVALID_REQUEST


async def test_configure_changes_only_the_given_fields() -> None:
    server = ModelServer(Behaviour(seed=9, latency_seconds=0.001))
    async with serving(server) as base_url:
        await _post(base_url, "configure", {"rates": {"500": 1}})
    assert server.behaviour == Behaviour(seed=9, latency_seconds=0.001, rates={"500": 1.0})


async def test_reset_clears_the_counts() -> None:
    async with serving(ModelServer()) as base_url:
        await call(base_url)
        before = await counts(base_url)
        await _post(base_url, "reset", {})
        after = await counts(base_url)
    assert (before["requests"], before["inFlightPeak"]) == (1, 1)
    assert before["firstRequestAt"] is not None
    assert (after["requests"], after["prompts"], after["firstRequestAt"]) == (0, {}, None)


async def _post(base_url: str, path: str, body: dict[str, Any]) -> None:
    async with httpx.AsyncClient() as client:
        (await client.post(f"{base_url}/{path}", json=body)).raise_for_status()


def test_the_command_line_sets_behaviour_and_port() -> None:
    options = ["--latency", "0.2", "--rate-429", "0.05", "--rate-bad-json", "0.01", "--seed", "7", "--port", "8123"]
    parsed = parse_options(options)
    behaviour, port = behaviour_of(parsed), parsed.port
    assert behaviour == Behaviour(latency_seconds=0.2, rates={"429": 0.05, "badJson": 0.01}, seed=7)
    assert port == 8123
