import os
import ssl
from functools import cache
from typing import Any

import aiohttp
import certifi
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from cupel_core import VERSION
from cupel_core.providers.call_time import setting_up

MAX_CONNECTIONS = 440
"""The size of each of two pools: for official addresses, and for others.

It is more than a worker has calls to one account, so that no call waits for a connection. Both pools and the
connections to AWS stay below 1,024 open files.
"""
KEEPALIVE_SECONDS = 60.0
CONNECT_SECONDS = 10.0
USER_AGENT = f"cupel/{VERSION}"


class TimedConnector(aiohttp.TCPConnector):
    """Counts the time of opening a connection, which is not the model's latency, as set-up of the current call."""

    def __init__(self, **options: Any) -> None:
        super().__init__(limit=MAX_CONNECTIONS, keepalive_timeout=KEEPALIVE_SECONDS, ssl=_authorities(), **options)

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - aiohttp's
    ) -> Connection:
        # An aiohttp.TraceConfig would do, but costs a tenth of a request.
        with setting_up():
            return await super().connect(req, traces, timeout)


def new_session(connector: TimedConnector, *, decompresses: bool) -> aiohttp.ClientSession:
    """Return a session without proxies, cookies and read timeout. Workspaces share a session, so it stores no cookies.
    Callers limit the whole exchange."""
    return aiohttp.ClientSession(
        connector=connector,
        headers={"user-agent": USER_AGENT},
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        auto_decompress=decompresses,
        trust_env=False,
    )


@cache
def _authorities() -> ssl.SSLContext:
    """Return the certificate authorities of SSL_CERT_FILE or SSL_CERT_DIR, otherwise those of certifi."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    return ssl.create_default_context(cafile=certifi.where())
