"""One attempt, over a mock transport: no network."""

import asyncio
from collections.abc import Callable

import httpx
import pytest

from cupel_core.domain.turns.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.errors import Invalid
from cupel_core.providers import http, safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.completion import MAX_MESSAGE_LENGTH, complete
from cupel_core.providers.errors import ProviderError

KEY = "sk-very-secret"
ACCOUNT = Account("openai", "https://api.openai.com/v1", KEY)
HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))
ANSWER = {"model": "m-1", "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}

type Handler = Callable[[httpx.Request], httpx.Response]


async def ask(handler: Handler, account: Account = ACCOUNT, model: str = "openai/m") -> Reply:
    async with http.new_client(httpx.MockTransport(handler)) as http_client:
        return await complete(account, model, HELLO, 5, http_client)


async def failure(handler: Handler, account: Account = ACCOUNT) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(handler, account)
    return caught.value


def answering(status: int, **content: object) -> Handler:
    return lambda _: httpx.Response(status, **content)  # type: ignore[arg-type]


async def test_a_response_is_parsed_into_a_reply() -> None:
    assert await ask(answering(200, json=ANSWER)) == Reply("Hi", "m-1", Usage(), "stop")


async def test_the_request_is_json_with_the_accounts_key() -> None:
    requests: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, json=ANSWER)

    await ask(handler)
    assert str(requests[0].url) == "https://api.openai.com/v1/chat/completions"
    assert requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert requests[0].headers["content-type"] == "application/json"


async def test_each_provider_uses_its_wire_format() -> None:
    bodies = {
        "anthropic/m": {"content": [{"type": "text", "text": "Hi"}]},
        "google/m": {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]},
        "mistral/m": ANSWER,
        "deepseek/m": ANSWER,
        "xai/m": ANSWER,
        "custom/m": ANSWER,
    }
    for model, body in bodies.items():
        account = Account(model.partition("/")[0], "http://localhost/v1", KEY)
        assert (await ask(answering(200, json=body), account, model)).text == "Hi"


async def test_an_unknown_provider_is_invalid() -> None:
    with pytest.raises(Invalid):
        await complete(ACCOUNT, "nobody/m", HELLO, 5)


async def test_a_response_that_is_not_json_is_the_providers_error() -> None:
    error = await failure(answering(200, content=b'{"choices": [{"mess'))
    assert error.code is ProbeErrorCode.PROVIDER_ERROR


async def test_the_error_for_missing_fields_names_them() -> None:
    error = await failure(answering(200, json={"choices": [{"message": None}]}))
    assert error.code is ProbeErrorCode.PROVIDER_ERROR
    assert "choices.0.message" in error.message


async def test_an_error_that_repeats_the_key_is_redacted() -> None:
    error = await failure(answering(401, json={"error": {"message": f"Incorrect API key: {KEY}"}}))
    assert error.code is ProbeErrorCode.AUTH
    assert error.message == "HTTP 401: Incorrect API key: [key]"


async def test_a_long_error_is_truncated() -> None:
    assert len((await failure(answering(500, content=b"x" * 5000))).message) == MAX_MESSAGE_LENGTH


@pytest.mark.parametrize("before", range(MAX_MESSAGE_LENGTH - 30, MAX_MESSAGE_LENGTH))
async def test_no_part_of_the_key_remains_where_an_error_is_truncated(before: int) -> None:
    error = await failure(answering(500, content=b"x" * before + KEY.encode()))
    assert "sk-" not in error.message


async def test_a_lost_connection_is_a_network_error() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("connection reset", request=request)

    assert (await failure(handler)).code is ProbeErrorCode.NETWORK


async def test_a_hanging_call_times_out() -> None:
    async def hang(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async with http.new_client(httpx.MockTransport(hang)) as http_client:
        with pytest.raises(ProviderError) as caught:
            await complete(ACCOUNT, "openai/m", HELLO, 0.01, http_client)
    assert caught.value.code is ProbeErrorCode.TIMEOUT


async def test_a_cookie_of_one_account_never_reaches_another() -> None:
    sent: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("cookie"))
        return httpx.Response(200, json=ANSWER, headers={"set-cookie": "session=1; Path=/"})

    async with http.new_client(httpx.MockTransport(handler)) as http_client:
        await complete(ACCOUNT, "openai/m", HELLO, 5, http_client)
        await complete(Account("openai", ACCOUNT.base_url, "sk-other"), "openai/m", HELLO, 5, http_client)
    assert sent == [None, None]


async def test_a_loop_reuses_one_client_until_it_is_closed() -> None:
    first = http.client()
    assert http.client() is first
    await http.close()
    assert first.is_closed
    assert http.client() is not first
    await http.close()


@pytest.mark.parametrize("base_url", ["", "ftp://host/v1", "not a url"])
async def test_an_invalid_base_url_is_an_invalid_request(base_url: str) -> None:
    try:
        with pytest.raises(ProviderError) as caught:
            await complete(Account("custom", base_url), "custom/m", HELLO, 5)
        assert caught.value.code is ProbeErrorCode.INVALID_REQUEST
    finally:
        await safe_http.close()


def test_an_account_never_shows_its_key() -> None:
    assert KEY not in repr(ACCOUNT)
