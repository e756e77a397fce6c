"""The duration of a call without its set-up."""

import time

import pytest
from aiohttp import web

from cupel_core.base.clock import utc_now
from cupel_core.providers import http, safe_http
from cupel_core.providers.account import Account
from cupel_core.providers.call_time import setting_up, start_timer
from cupel_core.providers.wire_format import WireRequest
from tests.unit.providers.agents import serving


def test_set_up_is_not_part_of_a_call() -> None:
    timer = start_timer()
    timer.started_at -= 1.0
    with setting_up():
        time.sleep(0.01)
    timer.setup_seconds += 1.0
    assert timer.setup_seconds > 1.0
    assert timer.duration_ms < 1_000


def test_set_up_outside_of_a_call_is_not_measured() -> None:
    with setting_up():
        pass
    assert start_timer().setup_seconds == 0


@pytest.mark.parametrize("is_official", [True, False])
async def test_opening_a_connection_is_set_up(is_official: bool) -> None:
    async with serving(lambda _: web.Response(text="{}")) as server:
        account = Account("custom", server.url, allow_private=True)
        timer = start_timer()
        send = http.send_request if is_official else None
        await http.post(account, WireRequest(server.url, {}), 5.0, utc_now(), send)
        await http.close()
        await safe_http.close()
    assert timer.setup_seconds > 0


async def test_a_connection_that_is_open_needs_no_set_up() -> None:
    async with serving(lambda _: web.Response(text="{}")) as server:
        account = Account("custom", server.url, allow_private=True)
        for _ in range(2):
            timer = start_timer()
            await http.post(account, WireRequest(server.url, {}), 5.0, utc_now(), http.send_request)
        await http.close()
        assert len({request.port for request in server.requests}) == 1
    assert timer.setup_seconds < 0.005
