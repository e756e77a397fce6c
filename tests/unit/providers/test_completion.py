"""One attempt, with what a provider answers given: no network."""

import asyncio

import pytest

from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.providers import http, safe_http
from cupel_core.providers.access_tokens import SendRequest
from cupel_core.providers.account import Account
from cupel_core.providers.completion import MAX_MESSAGE_LENGTH, complete
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.safe_http import HttpResponse
from cupel_core.providers.wire_format import WireRequest
from tests.in_one_test import in_one_test
from tests.unit.providers.answers import Answering, answering

KEY = "sk-very-secret"
ACCOUNT = Account("openai", "https://api.openai.com/v1", KEY)
HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))
ANSWER = {"model": "m-1", "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}


async def ask(send: SendRequest, account: Account = ACCOUNT, model: str = "openai/m") -> Reply:
    return await complete(account, model, HELLO, 5, send)


async def failure(send: SendRequest, account: Account = ACCOUNT) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(send, account)
    return caught.value


async def test_a_response_is_parsed_into_a_reply() -> None:
    assert await ask(answering(200, ANSWER)) == Reply("Hi", "m-1", None, "stop")


async def test_the_request_has_the_accounts_address_and_key() -> None:
    send = answering(200, ANSWER)
    await ask(send)
    assert send.requests[0].url == "https://api.openai.com/v1/chat/completions"
    assert send.requests[0].headers["authorization"] == f"Bearer {KEY}"


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
        assert (await ask(answering(200, body), account, model)).text == "Hi"


async def test_an_unknown_provider_is_invalid() -> None:
    with pytest.raises(Invalid):
        await complete(ACCOUNT, "nobody/m", HELLO, 5)


async def test_a_response_that_is_not_json_is_the_providers_error() -> None:
    error = await failure(Answering(200, b'{"choices": [{"mess'))
    assert error.code is ProbeErrorCode.PROVIDER_ERROR


async def test_the_error_of_a_reply_without_an_answer_says_what_is_missing() -> None:
    error = await failure(answering(200, {"choices": [{"message": None}]}))
    assert error.code is ProbeErrorCode.PROVIDER_ERROR
    assert error.message == "malformed response: it has neither a text nor calls of functions"


async def test_an_error_that_repeats_the_key_is_redacted() -> None:
    error = await failure(answering(401, {"error": {"message": f"Incorrect API key: {KEY}"}}))
    assert error.code is ProbeErrorCode.AUTH
    assert error.message == "HTTP 401: Incorrect API key: [key]"


@pytest.mark.parametrize(("status", "is_quoting"), [(422, True), (500, False)])
async def test_a_refusal_that_repeats_what_was_said_says_so(status: int, is_quoting: bool) -> None:
    said = "My sister has hidden a broken valve."
    request = ModelRequest((Message(MessageRole.USER, said),))
    response = answering(status, {"detail": [{"msg": "not allowed", "input": {"content": said}}]})
    with pytest.raises(ProviderError) as caught:
        await complete(ACCOUNT, "openai/m", request, 5.0, response)
    assert said in caught.value.message
    assert caught.value.is_quoting is is_quoting


async def test_a_refusal_in_words_of_its_own_quotes_nothing() -> None:
    assert not (await failure(answering(404, {"error": {"message": "there is no model m"}}))).is_quoting


async def test_a_long_error_is_truncated() -> None:
    assert len((await failure(Answering(500, b"x" * 5000))).message) == MAX_MESSAGE_LENGTH


@in_one_test("before", range(MAX_MESSAGE_LENGTH - 30, MAX_MESSAGE_LENGTH))
async def test_no_part_of_the_key_remains_where_an_error_is_truncated(before: int) -> None:
    error = await failure(Answering(500, b"x" * before + KEY.encode()))
    assert "sk-" not in error.message


async def test_a_hanging_call_times_out() -> None:
    async def hang(_: WireRequest) -> HttpResponse:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(ProviderError) as caught:
        await complete(ACCOUNT, "openai/m", HELLO, 0.01, hang)
    assert caught.value.code is ProbeErrorCode.TIMEOUT


@pytest.mark.parametrize("base_url", ["", "ftp://host/v1", "not a url"])
async def test_an_invalid_base_url_is_an_invalid_request(base_url: str) -> None:
    try:
        with pytest.raises(ProviderError) as caught:
            await complete(Account("custom", base_url), "custom/m", HELLO, 5)
        assert caught.value.code is ProbeErrorCode.INVALID_REQUEST
    finally:
        await http.close()
        await safe_http.close()


def test_an_account_never_shows_its_key() -> None:
    assert KEY not in repr(ACCOUNT)
