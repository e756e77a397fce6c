"""Models at addresses that a workspace chose: what they can reach, and how much they may answer."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from cupel_core import VERSION
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode
from cupel_core.providers import PROVIDERS, bedrock, http, safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.addresses import is_bedrock_address
from cupel_core.providers.completion import complete
from cupel_core.providers.embeddings import embed
from cupel_core.providers.errors import ProviderError
from tests.unit.providers.agents import ReceivedRequest, json, serving

HELLO = ModelRequest((Message(MessageRole.USER, "Hello"),))
ANSWER = {"choices": [{"message": {"content": "Hi"}}]}
KEY = "sk-secret"


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await http.close()
    await safe_http.close()


def account(url: str, provider: str = "custom", *, allow_private: bool = False) -> Account:
    return Account(provider, url, KEY, allow_private=allow_private)


async def refusal(of: Account) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await complete(of, f"{of.provider}/m", HELLO, 5)
    assert KEY not in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    "provider", [each.name for each in PROVIDERS.values() if each.base_url or each.name == "custom"]
)
async def test_no_provider_reaches_a_private_address(provider: str) -> None:
    async with serving(lambda _: json(ANSWER)) as server:
        error = await refusal(account(server.url, provider))
    assert (error.code, error.final) == (ProbeErrorCode.INVALID_REQUEST, True)
    assert "private network" in error.message
    assert server.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "10.0.0.1", "[::1]", "[fd00:ec2::254]"])
async def test_private_hosts_are_refused(host: str) -> None:
    assert "private network" in (await refusal(account(f"http://{host}:9/v1"))).message


async def test_a_server_that_was_removed_is_named() -> None:
    """Runs may go on after its address was removed."""
    error = await refusal(account("", "custom-gpu"))
    assert (error.code, error.message) == (ProbeErrorCode.INVALID_REQUEST, "provider custom-gpu has no baseUrl")


async def test_embeddings_do_not_reach_a_private_address() -> None:
    async with serving(lambda _: json({"data": []})) as server:
        with pytest.raises(ProviderError, match="private network"):
            await embed(account(server.url, "openai"), "openai/text-embedding-3-small", ("a",), 5)
    assert server.requests == []


async def test_a_stack_may_allow_private_addresses() -> None:
    async with serving(lambda _: json(ANSWER)) as server:
        reply = await complete(account(server.url, allow_private=True), "custom/m", HELLO, 5)
    assert reply.text == "Hi"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_redirect_to_another_server_carries_no_key() -> None:
    async with serving(lambda _: json(ANSWER)) as other:

        def redirect(_: ReceivedRequest) -> web.Response:
            return web.Response(status=307, headers={"location": other.url})

        async with serving(redirect) as server:
            await complete(account(server.url, allow_private=True), "custom/m", HELLO, 5)
    assert "authorization" not in other.requests[0].headers


async def test_an_answer_of_any_size_does_not_fill_the_worker() -> None:
    async def endless(request: ReceivedRequest) -> web.StreamResponse:
        del request
        return web.Response(body=b" " * (http.MAX_REPLY_BYTES + 1))

    async with serving(endless) as server:
        error = await refusal(account(server.url, allow_private=True))
    assert (error.final, "larger than" in error.message) == (True, True)


@pytest.mark.parametrize(
    ("url", "is_official"),
    [
        ("https://bedrock-runtime.us-east-1.amazonaws.com", True),
        ("https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", True),
        ("https://bedrock-runtime.cn-north-1.amazonaws.com.cn", True),
        ("https://bedrock-runtime.eu-central-1.api.aws/", True),
        ("http://bedrock-runtime.us-east-1.amazonaws.com", False),
        ("https://bedrock-runtime.us-east-1.amazonaws.com.evil.test", False),
        ("https://evil.execute-api.us-east-1.amazonaws.com", False),
        ("https://bedrock-runtime.us-east-1.amazonaws.com:8443", False),
        ("https://169.254.169.254", False),
    ],
)
def test_only_bedrock_gets_requests_signed_by_the_role(url: str, is_official: bool) -> None:
    assert is_bedrock_address(url) is is_official


async def test_another_server_is_never_called_as_bedrock() -> None:
    with pytest.raises(ProviderError, match="not an endpoint of Amazon Bedrock"):
        bedrock.client_for(Account("bedrock", "https://elsewhere.test"), 5)
    assert bedrock.client_for(Account("bedrock", "http://127.0.0.1:9", KEY, allow_private=True), 5)


async def test_a_request_says_that_it_is_cupel_s() -> None:
    async with serving(lambda _: json(ANSWER)) as server:
        await complete(account(server.url, allow_private=True), "custom/m", HELLO, 5)
    assert server.requests[0].headers["user-agent"] == f"cupel/{VERSION}"


async def test_a_short_key_is_not_replaced_in_what_a_server_says() -> None:
    said = {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported"}}
    async with serving(lambda _: json(said, 400)) as server:
        with pytest.raises(ProviderError, match="'max_tokens' is not supported"):
            await complete(Account("custom", server.url, "x", allow_private=True), "custom/m", HELLO, 5)
