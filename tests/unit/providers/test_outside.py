"""Requests to addresses that a workspace chose: what they reach, what they carry, and where they end."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Awaitable

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.providers import safe_http
from cupel_core.providers.addresses import is_inside
from cupel_core.providers.errors import ProviderError
from tests.unit.providers.agents import Answering, Asked, json, serving, serving_bytes

SECRET = "Bearer very-secret"
HEADERS = {"Authorization": SECRET}


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await safe_http.close()


class FakeResolver(AbstractResolver):
    """Knows one host, by these addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=each, port=port, family=family, proto=0, flags=0)
            for each in self.addresses
        ]

    async def close(self) -> None:
        pass


async def ask(url: str, *, allow_private: bool = True, seconds: float = 5, max_bytes: int = 1000) -> safe_http.Answer:
    return await safe_http.post_json(
        url, {"a": 1}, HEADERS, timeout_seconds=seconds, allow_private=allow_private, max_bytes=max_bytes
    )


async def refusal(url: str, *, allow_private: bool = True, seconds: float = 5) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(url, allow_private=allow_private, seconds=seconds)
    assert SECRET not in caught.value.message
    return caught.value


async def refusal_of_names(*addresses: str, port: int = 9) -> ProviderError:
    """Of the guarded way to a host that has these addresses."""
    async with safe_http.new_session(is_inside, FakeResolver(*addresses)) as session:
        with pytest.raises(ProviderError) as caught:
            await safe_http.send(
                "POST", f"http://x.test:{port}/", {}, {}, timeout_seconds=5, allow_private=False, session=session
            )
        return caught.value


def chain(hops: int, last: Answering) -> Answering:
    """`/3` leads to `/2`, `/2` to `/1`, and so on."""

    def answer(asked: Asked) -> web.StreamResponse | Awaitable[web.StreamResponse]:
        left = int(asked.path.strip("/") or hops)
        return web.Response(status=307, headers={"location": f"/{left - 1}"}) if left else last(asked)

    return answer


async def test_json_goes_there_and_json_comes_back() -> None:
    async with serving(lambda asked: json({"got": asked.body})) as agent:
        answer = await ask(f"{agent.url}/path?x=1")
    assert (answer.status, answer.ok, answer.body) == (200, True, {"got": {"a": 1}})
    [asked] = agent.asked
    assert (asked.method, asked.path) == ("POST", "/path?x=1")
    assert asked.headers["authorization"] == SECRET
    assert asked.headers["content-type"] == "application/json"


async def test_any_status_is_an_answer() -> None:
    async with serving(lambda _: web.Response(status=503, text="busy", headers={"Retry-After": "7"})) as agent:
        answer = await ask(agent.url)
    assert (answer.ok, answer.body, answer.headers["retry-after"]) == (False, "busy", "7")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "[::]"])
async def test_an_address_inside_is_refused_for_good(host: str) -> None:
    error = await refusal(f"http://{host}:9/", allow_private=False)
    assert error.code is ErrorCode.INVALID_REQUEST
    assert not error.retryable
    assert "is inside a private network; the stack does not allow private endpoints" in error.message


async def test_nothing_is_sent_to_an_address_inside() -> None:
    async with serving(lambda _: json({})) as agent:
        await refusal(agent.url, allow_private=False)
    assert agent.asked == []


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "0177.0.0.1"])
async def test_no_other_way_to_write_an_address_leads_inside(host: str) -> None:
    async with serving(lambda _: json({})) as agent:
        await refusal(agent.url.replace("127.0.0.1", host), allow_private=False)
    assert agent.asked == []


async def test_a_name_that_resolves_to_an_address_inside_is_refused() -> None:
    error = await refusal_of_names("10.0.0.1")
    assert error.message.startswith("the address 10.0.0.1 of host x.test is inside a private network")


async def test_the_name_of_this_machine_is_refused() -> None:
    async with serving(lambda _: json({})) as agent:
        error = await refusal(agent.url.replace("127.0.0.1", "localhost"), allow_private=False)
    assert "of host localhost is inside" in error.message


async def test_a_name_with_several_addresses_inside_is_refused() -> None:
    error = await refusal_of_names("10.0.0.1", "192.168.0.1", "fd00:ec2::254")
    assert "is inside a private network" in error.message


async def test_each_address_of_a_name_is_checked_when_it_is_connected_to() -> None:
    async with serving(lambda _: json({})) as agent:
        port = int(agent.url.rpartition(":")[2])
        await refusal_of_names("192.0.2.1", "127.0.0.1", port=port)
    assert agent.asked == []


async def test_a_connection_of_those_who_may_go_inside_serves_no_one_else() -> None:
    async with serving(lambda _: json({})) as agent:
        await ask(agent.url)
        await refusal(agent.url, allow_private=False)
    assert len(agent.asked) == 1


async def test_a_redirect_is_followed_with_what_was_posted() -> None:
    async with serving(chain(3, lambda asked: json(asked.body))) as agent:
        assert (await ask(agent.url)).body == {"a": 1}
    assert [asked.headers["authorization"] for asked in agent.asked] == [SECRET] * 4


async def test_a_fourth_redirect_is_too_many() -> None:
    async with serving(chain(4, lambda _: json({}))) as agent:
        error = await refusal(agent.url)
    assert (error.code, error.retryable) == (ErrorCode.INVALID_REQUEST, False)
    assert "more than 3 redirects" in error.message


async def test_a_303_asks_for_the_other_page_without_posting_again() -> None:
    def answer(asked: Asked) -> web.Response:
        return json({}) if asked.path == "/done" else web.Response(status=303, headers={"location": "/done"})

    async with serving(answer) as agent:
        await ask(agent.url)
    assert [(asked.method, asked.body) for asked in agent.asked] == [("POST", {"a": 1}), ("GET", None)]


async def test_headers_do_not_follow_to_another_origin() -> None:
    def lead_on(asked: Asked) -> web.Response:
        return web.Response(status=302, headers={"location": f"{other.url}/there"})

    async with serving(lambda _: json({})) as other, serving(lead_on) as first:
        await ask(first.url)
    assert "authorization" not in other.asked[0].headers
    assert SECRET not in str(other.asked)


@pytest.mark.parametrize("target", ["http://10.0.0.1/", "http://169.254.169.254/latest", "http://[::1]/"])
async def test_a_redirect_inside_is_refused(target: str) -> None:
    def is_refused(address: str) -> bool:
        return address != "127.0.0.1" and is_inside(address)  # which stands for a public one here

    async with (
        serving(lambda _: web.Response(status=307, headers={"location": target})) as agent,
        safe_http.new_session(is_refused) as session,
    ):
        with pytest.raises(ProviderError, match="is inside a private network"):
            await safe_http.send("POST", agent.url, {}, {}, timeout_seconds=5, allow_private=False, session=session)
    assert len(agent.asked) == 1


@pytest.mark.parametrize("location", ["ftp://x/", "file:///etc/passwd", "http://", "http://[::1"])
async def test_a_redirect_to_something_else_than_http_is_refused(location: str) -> None:
    async with serving(lambda _: web.Response(status=302, headers={"location": location})) as agent:
        assert (await refusal(agent.url)).code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("url", ["ftp://x/", "file:///etc/passwd", "http://", "nonsense", "http://[::1"])
async def test_only_http_is_spoken(url: str) -> None:
    error = await refusal(url)
    assert (error.code, error.retryable) == (ErrorCode.INVALID_REQUEST, False)


async def test_a_header_that_cannot_be_sent_is_refused_by_name() -> None:
    with pytest.raises(ProviderError, match="the header x-key holds") as caught:
        await safe_http.post_json("http://x.test", {}, {"x-key": "a\r\nb"}, timeout_seconds=1, allow_private=True)
    assert caught.value.code is ErrorCode.INVALID_REQUEST


async def test_an_answer_that_is_too_large_is_not_read_to_its_end() -> None:
    sent = 0

    async def say(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while sent < 100_000_000:
            writer.write(b"x" * 10_000)
            sent += 10_000
            await writer.drain()

    async with serving_bytes(say) as url:
        error = await refusal(url)
    assert (error.message, error.retryable) == ("the answer is larger than 1000 bytes", False)
    assert sent < 100_000_000


async def test_an_answer_of_just_the_size_is_read() -> None:
    async with serving(lambda _: web.Response(body=b"x" * 1000)) as agent:
        assert len((await ask(agent.url)).content) == 1000


async def test_a_compressed_answer_is_not_unpacked() -> None:
    packed = gzip.compress(b"x" * 10_000_000)
    async with serving(lambda _: web.Response(body=packed, headers={"content-encoding": "gzip"})) as agent:
        error = await refusal(agent.url)
    assert error.code is ErrorCode.PROVIDER_ERROR
    assert agent.asked[0].headers["accept-encoding"] == "identity"


async def test_the_time_is_limited_as_a_whole() -> None:
    async def hang(asked: Asked) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with serving(hang) as agent:
        error = await refusal(agent.url, seconds=0.05)
    assert (error.code, error.message) == (ErrorCode.TIMEOUT, "no answer from 127.0.0.1 within 0.05 s")


async def test_the_time_is_limited_for_an_answer_that_trickles() -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with serving_bytes(trickle) as url:
        assert (await refusal(url, seconds=0.1)).code is ErrorCode.TIMEOUT


async def test_a_server_that_is_not_there_is_a_matter_of_the_network() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        error = await refusal(f"http://127.0.0.1:{bound.getsockname()[1]}/secret-path")
    assert (error.code, error.retryable) == (ErrorCode.NETWORK, True)
    assert "secret-path" not in error.message


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"", ErrorCode.NETWORK),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", ErrorCode.NETWORK),
        (b"SSH-2.0-OpenSSH_9.6\r\n", ErrorCode.PROVIDER_ERROR),
    ],
)
async def test_a_lost_connection_is_not_the_same_as_an_answer_that_is_no_http(said: bytes, code: ErrorCode) -> None:
    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()

    async with serving_bytes(say) as url:
        assert (await refusal(url)).code is code


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with serving(lambda _: json({})) as agent:
        assert (await ask(agent.url)).ok


async def test_connections_are_kept_for_the_next_request() -> None:
    async with serving(lambda _: json({})) as agent:
        await ask(agent.url)
        await ask(agent.url)
    assert len({asked.port for asked in agent.asked}) == 1


async def test_each_loop_closes_its_own_connections() -> None:
    await safe_http.close()
    async with serving(lambda _: json({})) as agent:
        await ask(agent.url)
        await safe_http.close()
        assert (await ask(agent.url)).ok
