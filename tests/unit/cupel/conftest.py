"""The client and the command against a fake API."""

from collections.abc import Callable

import httpx
import pytest
from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from tests.unit.cupel.fake_api import Connect, Cupel, FakeApi


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def waits() -> list[float]:
    """The durations for which the client or a command slept."""
    return []


@pytest.fixture
def connect(api: FakeApi, waits: list[float]) -> Connect:
    transport = httpx.MockTransport(api)
    return lambda: Client("http://api.test", "cupel_token", source="a test", transport=transport, sleep=waits.append)


@pytest.fixture
def client(connect: Connect) -> Client:
    return connect()


@pytest.fixture
def cupel(connect: Connect, waits: list[float]) -> Cupel:
    """`cupel("runs", "--json")` → exit code, standard output and standard error."""

    def invoke(
        *arguments: str, stdin: str | bytes | None = None, sleep: Callable[[float], None] = waits.append
    ) -> Result:
        session = Session(connect=connect, sleep=sleep)
        return CliRunner().invoke(app, list(arguments), input=stdin, obj=session, catch_exceptions=False)

    return invoke
