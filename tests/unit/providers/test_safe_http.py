"""Requests to user-supplied addresses: what they can reach, what they send, and how they end."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Awaitable

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers import safe_http
from cupel_core.providers.addresses import is_non_public_address
from cupel_core.providers.errors import ProviderError
from tests.unit.providers.agents import Handler, ReceivedRequest, json, serving, serving_bytes

SECRET = "Bearer very-secret"
HEADERS = {"Authorization": SECRET}


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await safe_http.close()


class FakeResolver(AbstractResolver):
    """Resolves every host to these addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in self.addresses
        ]

    async def close(self) -> None:
        pass


async def ask(
    url: str, *, allow_private: bool = True, seconds: float = 5, max_bytes: int = 1000
) -> safe_http.HttpResponse:
    return await safe_http.post_json(
        url, {"a": 1}, HEADERS, timeout_seconds=seconds, allow_private=allow_private, max_bytes=max_bytes
    )


async def rejection(url: str, *, allow_private: bool = True, seconds: float = 5) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(url, allow_private=allow_private, seconds=seconds)
    assert SECRET not in caught.value.message
    return caught.value


async def rejection_of_host(*addresses: str, port: int = 9) -> ProviderError:
    """The error of a request to a host that resolves to these addresses, when private addresses are not allowed."""
    async with safe_http.new_session(is_non_public_address, FakeResolver(*addresses)) as session:
        with pytest.raises(ProviderError) as caught:
            await safe_http.send(
                "POST", f"http://x.test:{port}/", {}, {}, timeout_seconds=5, allow_private=False, session=session
            )
        return caught.value


def chain(hops: int, last: Handler) -> Handler:
    """`/3` redirects to `/2`, `/2` to `/1`, and so on."""

    def answer(asked: ReceivedRequest) -> web.StreamResponse | Awaitable[web.StreamResponse]:
        remaining = int(asked.path.strip("/") or hops)
        return web.Response(status=307, headers={"location": f"/{remaining - 1}"}) if remaining else last(asked)

    return answer


async def test_json_is_posted_and_json_is_returned() -> None:
    async with serving(lambda asked: json({"got": asked.body})) as agent:
        answer = await ask(f"{agent.url}/path?x=1")
    assert (answer.status, answer.ok, answer.body) == (200, True, {"got": {"a": 1}})
    [asked] = agent.requests
    assert (asked.method, asked.path) == ("POST", "/path?x=1")
    assert asked.headers["authorization"] == SECRET
    assert asked.headers["content-type"] == "application/json"


async def test_any_status_is_returned_as_a_response() -> None:
    async with serving(lambda _: web.Response(status=503, text="busy", headers={"Retry-After": "7"})) as agent:
        answer = await ask(agent.url)
    assert (answer.ok, answer.body, answer.headers["retry-after"]) == (False, "busy", "7")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "[::]"])
async def test_a_private_address_is_rejected_without_retry(host: str) -> None:
    error = await rejection(f"http://{host}:9/", allow_private=False)
    assert error.code is ProbeErrorCode.INVALID_REQUEST
    assert not error.retryable
    assert "is in a private network; this stack does not allow private endpoints" in error.message


async def test_nothing_is_sent_to_a_private_address() -> None:
    async with serving(lambda _: json({})) as agent:
        await rejection(agent.url, allow_private=False)
    assert agent.requests == []


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "0177.0.0.1"])
async def test_no_other_notation_of_an_address_bypasses_the_check(host: str) -> None:
    async with serving(lambda _: json({})) as agent:
        await rejection(agent.url.replace("127.0.0.1", host), allow_private=False)
    assert agent.requests == []


async def test_a_name_that_resolves_to_a_private_address_is_rejected() -> None:
    error = await rejection_of_host("10.0.0.1")
    assert error.message.startswith("the address 10.0.0.1 of host x.test is in a private network")


async def test_localhost_is_rejected() -> None:
    async with serving(lambda _: json({})) as agent:
        error = await rejection(agent.url.replace("127.0.0.1", "localhost"), allow_private=False)
    assert "of host localhost is in a private network" in error.message


async def test_a_name_with_several_private_addresses_is_rejected() -> None:
    error = await rejection_of_host("10.0.0.1", "192.168.0.1", "fd00:ec2::254")
    assert "is in a private network" in error.message


async def test_each_address_of_a_name_is_checked_when_connecting() -> None:
    async with serving(lambda _: json({})) as agent:
        port = int(agent.url.rpartition(":")[2])
        await rejection_of_host("192.0.2.1", "127.0.0.1", port=port)
    assert agent.requests == []


async def test_a_connection_to_a_private_address_is_not_reused_by_callers_that_may_not_open_one() -> None:
    async with serving(lambda _: json({})) as agent:
        await ask(agent.url)
        await rejection(agent.url, allow_private=False)
    assert len(agent.requests) == 1


async def test_a_redirect_is_followed_with_the_same_body() -> None:
    async with serving(chain(3, lambda asked: json(asked.body))) as agent:
        assert (await ask(agent.url)).body == {"a": 1}
    assert [asked.headers["authorization"] for asked in agent.requests] == [SECRET] * 4


async def test_a_fourth_redirect_is_too_many() -> None:
    async with serving(chain(4, lambda _: json({}))) as agent:
        error = await rejection(agent.url)
    assert (error.code, error.retryable) == (ProbeErrorCode.INVALID_REQUEST, False)
    assert "more than 3 redirects" in error.message


async def test_a_303_is_followed_by_a_get_without_body() -> None:
    def answer(asked: ReceivedRequest) -> web.Response:
        return json({}) if asked.path == "/done" else web.Response(status=303, headers={"location": "/done"})

    async with serving(answer) as agent:
        await ask(agent.url)
    assert [(asked.method, asked.body) for asked in agent.requests] == [("POST", {"a": 1}), ("GET", None)]


async def test_headers_do_not_follow_to_another_origin() -> None:
    def redirect(asked: ReceivedRequest) -> web.Response:
        return web.Response(status=302, headers={"location": f"{other.url}/there"})

    async with serving(lambda _: json({})) as other, serving(redirect) as first:
        await ask(first.url)
    assert "authorization" not in other.requests[0].headers
    assert SECRET not in str(other.requests)


@pytest.mark.parametrize("target", ["http://10.0.0.1/", "http://169.254.169.254/latest", "http://[::1]/"])
async def test_a_redirect_to_a_private_address_is_rejected(target: str) -> None:
    def is_blocked(address: str) -> bool:
        return address != "127.0.0.1" and is_non_public_address(address)  # 127.0.0.1 represents a public address here

    async with (
        serving(lambda _: web.Response(status=307, headers={"location": target})) as agent,
        safe_http.new_session(is_blocked) as session,
    ):
        with pytest.raises(ProviderError, match="is in a private network"):
            await safe_http.send("POST", agent.url, {}, {}, timeout_seconds=5, allow_private=False, session=session)
    assert len(agent.requests) == 1


@pytest.mark.parametrize("location", ["ftp://x/", "file:///etc/passwd", "http://", "http://[::1"])
async def test_a_redirect_to_another_scheme_than_http_is_rejected(location: str) -> None:
    async with serving(lambda _: web.Response(status=302, headers={"location": location})) as agent:
        assert (await rejection(agent.url)).code is ProbeErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("url", ["ftp://x/", "file:///etc/passwd", "http://", "nonsense", "http://[::1"])
async def test_only_http_urls_are_accepted(url: str) -> None:
    error = await rejection(url)
    assert (error.code, error.retryable) == (ProbeErrorCode.INVALID_REQUEST, False)


async def test_the_error_for_an_invalid_header_names_it() -> None:
    with pytest.raises(ProviderError, match="the header x-key contains") as caught:
        await safe_http.post_json("http://x.test", {}, {"x-key": "a\r\nb"}, timeout_seconds=1, allow_private=True)
    assert caught.value.code is ProbeErrorCode.INVALID_REQUEST


async def test_a_response_that_is_too_large_is_not_read_to_its_end() -> None:
    sent = 0

    async def write(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while sent < 100_000_000:
            writer.write(b"x" * 10_000)
            sent += 10_000
            await writer.drain()

    async with serving_bytes(write) as url:
        error = await rejection(url)
    assert (error.message, error.retryable) == ("the response is larger than 1000 bytes", False)
    assert sent < 100_000_000


async def test_a_response_of_exactly_the_limit_is_read() -> None:
    async with serving(lambda _: web.Response(body=b"x" * 1000)) as agent:
        assert len((await ask(agent.url)).content) == 1000


async def test_a_compressed_response_is_not_decompressed() -> None:
    packed = gzip.compress(b"x" * 10_000_000)
    async with serving(lambda _: web.Response(body=packed, headers={"content-encoding": "gzip"})) as agent:
        error = await rejection(agent.url)
    assert error.code is ProbeErrorCode.PROVIDER_ERROR
    assert agent.requests[0].headers["accept-encoding"] == "identity"


async def test_the_timeout_covers_the_whole_request() -> None:
    async def hang(asked: ReceivedRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with serving(hang) as agent:
        error = await rejection(agent.url, seconds=0.05)
    assert (error.code, error.message) == (ProbeErrorCode.TIMEOUT, "no response from 127.0.0.1 within 0.05 s")


async def test_the_timeout_covers_a_response_that_trickles() -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with serving_bytes(trickle) as url:
        assert (await rejection(url, seconds=0.1)).code is ProbeErrorCode.TIMEOUT


async def test_a_server_that_does_not_run_is_a_network_error() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        error = await rejection(f"http://127.0.0.1:{bound.getsockname()[1]}/secret-path")
    assert (error.code, error.retryable) == (ProbeErrorCode.NETWORK, True)
    assert "secret-path" not in error.message


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"", ProbeErrorCode.NETWORK),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", ProbeErrorCode.NETWORK),
        (b"SSH-2.0-OpenSSH_9.6\r\n", ProbeErrorCode.PROVIDER_ERROR),
    ],
)
async def test_a_lost_connection_has_another_code_than_an_invalid_response(sent: bytes, code: ProbeErrorCode) -> None:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()

    async with serving_bytes(write) as url:
        assert (await rejection(url)).code is code


async def test_proxy_settings_in_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with serving(lambda _: json({})) as agent:
        assert (await ask(agent.url)).ok


async def test_connections_are_reused() -> None:
    async with serving(lambda _: json({})) as agent:
        await ask(agent.url)
        await ask(agent.url)
    assert len({asked.port for asked in agent.requests}) == 1


async def test_each_loop_closes_its_own_connections() -> None:
    await safe_http.close()
    async with serving(lambda _: json({})) as agent:
        await ask(agent.url)
        await safe_http.close()
        assert (await ask(agent.url)).ok
