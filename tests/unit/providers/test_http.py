"""Calls to official addresses, over real connections to servers on the loopback interface."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers import http
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.wire_format import WireRequest
from tests.unit.providers.agents import json, serving, serving_bytes


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await http.close()


async def error_of(url: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await http.send_request(WireRequest(url, {}))
    return caught.value


async def test_a_request_is_json_with_the_given_headers() -> None:
    async with serving(lambda _: json({"text": "Hi"})) as server:
        response = await http.send_request(WireRequest(f"{server.url}/v1", {"a": 1}, {"authorization": "Bearer x"}))
    request = server.requests[0]
    assert (request.method, request.path, request.body) == ("POST", "/v1", {"a": 1})
    assert (request.headers["content-type"], request.headers["authorization"]) == ("application/json", "Bearer x")
    assert (response.status, response.body) == (200, {"text": "Hi"})


async def test_a_response_with_any_status_is_returned_with_its_headers() -> None:
    async with serving(lambda _: json({}, 429, {"Retry-After": "7"})) as server:
        response = await http.send_request(WireRequest(server.url, {}))
    assert (response.status, response.headers["retry-after"]) == (429, "7")


async def test_a_compressed_response_is_decompressed() -> None:
    compressed = web.Response(body=gzip.compress(b"[1]"), headers={"content-encoding": "gzip"})
    async with serving(lambda _: compressed) as server:
        response = await http.send_request(WireRequest(server.url, {}))
    assert "gzip" in server.requests[0].headers["accept-encoding"]
    assert response.body == [1]


async def test_a_response_that_becomes_too_large_when_decompressed_is_refused() -> None:
    content = gzip.compress(b" " * (http.MAX_REPLY_BYTES + 1))
    async with serving(lambda _: web.Response(body=content, headers={"content-encoding": "gzip"})) as server:
        error = await error_of(server.url)
    assert (error.code, error.final) == (ProbeErrorCode.PROVIDER_ERROR, True)


async def test_a_redirect_is_not_followed() -> None:
    async with serving(lambda _: web.Response(status=307, headers={"location": "/other"})) as server:
        response = await http.send_request(WireRequest(server.url, {}))
    assert (response.status, len(server.requests)) == (307, 1)


async def test_a_cookie_of_one_account_never_reaches_another() -> None:
    async with serving(lambda _: json({}, headers={"set-cookie": "session=1; Path=/"})) as server:
        for key in ("sk-one", "sk-other"):
            await http.send_request(WireRequest(server.url, {}, {"authorization": key}))
    assert [request.headers.get("cookie") for request in server.requests] == [None, None]


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    async with serving(lambda _: json({})) as server:
        assert (await http.send_request(WireRequest(server.url, {}))).ok


async def test_a_refused_connection_is_a_network_error() -> None:
    async with serving(lambda _: json({})) as server:
        pass
    error = await error_of(server.url)
    assert (error.code, error.retryable) == (ProbeErrorCode.NETWORK, True)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{", ProbeErrorCode.NETWORK, id="breaks off"),
        pytest.param(b"no HTTP\r\n\r\n", ProbeErrorCode.PROVIDER_ERROR, id="is not HTTP"),
    ],
)
async def test_an_incomplete_response_may_be_requested_again(sent: bytes, code: ProbeErrorCode) -> None:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()

    async with serving_bytes(send) as url:
        error = await error_of(url)
    assert (error.code, error.retryable) == (code, True)


@pytest.mark.parametrize("url", ["", "ftp://host/v1", "not a url", "http://[broken"])
async def test_an_invalid_address_is_an_invalid_request(url: str) -> None:
    assert (await error_of(url)).code is ProbeErrorCode.INVALID_REQUEST


async def test_a_loop_reuses_one_session_until_it_is_closed() -> None:
    first = http.session()
    assert http.session() is first
    await http.close()
    assert first.closed
    assert http.session() is not first
