"""Conversations with an OpenAI-compatible server (LiteLLM's proxy), through the code that runs use."""

import pytest

from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.connectors import connection_test
from cupel_core.providers.errors import ProviderError


def connector(server: tuple[str, str], model: str = "parrot") -> Connector:
    url, key = server
    config = {"model": model, "maxTokens": 20, "parameters": {"top_p": 0.5}}
    return Connector("con_1", "c", ConnectorType.OPENAI, url, {"Authorization": f"Bearer {key}"}, config)


async def ask(to: Connector) -> Reply:
    account = Account("connector", to.base_url, connector=to, allow_private=True)
    talk = (
        Message(MessageRole.USER, "Hello"),
        Message(MessageRole.ASSISTANT, "Hi"),
        Message(MessageRole.USER, "And now?"),
    )
    return await complete(account, to.target, ModelRequest(talk, ModelParameters(temperature=0.0)), 30)


async def failure(to: Connector) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(to)
    return caught.value


async def test_the_server_answers(litellm: tuple[str, str]) -> None:
    reply = await ask(connector(litellm))
    assert (reply.text, reply.model_version, reply.finish_reason) == ("A mock answer", "parrot", "stop")
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0


@pytest.mark.parametrize(
    ("model", "code"), [("busy", ProbeErrorCode.RATE_LIMITED), ("broken", ProbeErrorCode.PROVIDER_ERROR)]
)
async def test_an_error_of_the_server_is_retryable(litellm: tuple[str, str], model: str, code: ProbeErrorCode) -> None:
    error = await failure(connector(litellm, model))
    assert (error.code, error.retryable) == (code, True)


async def test_an_unknown_model_is_not_retryable(litellm: tuple[str, str]) -> None:
    error = await failure(connector(litellm, "nobody"))
    assert (error.code, error.retryable) == (ProbeErrorCode.INVALID_REQUEST, False)
    assert "nobody" in error.message


async def test_a_wrong_key_is_not_retryable_and_not_in_the_error(litellm: tuple[str, str]) -> None:
    error = await failure(connector((litellm[0], "sk-which-is-wrong")))
    assert not error.retryable
    assert "sk-which-is-wrong" not in error.message


async def test_a_connection_test_returns_the_reply(litellm: tuple[str, str]) -> None:
    result = await connection_test.test_connection(
        connector(litellm), allow_private=True, timeout_seconds=30, attempt=complete, prices=()
    )
    assert (result.ok, result.reply) == (True, "A mock answer")
