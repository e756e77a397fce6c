"""The client and the command against the real API function on moto; a test module makes fixtures of both."""

from pathlib import Path

from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport
from tests.unit.cupel.fake_api import Cupel


def connect_to_api_function() -> Client:
    """An admin's client, which repeats refused requests without waiting. It needs the fixture `cloud`."""
    api = ApiClient(None)
    return Client("http://api.test", api.issue(), transport=api_transport(api), sleep=lambda _: None)


def command_of(client: Client) -> Cupel:
    """Runs the command with this client, and leaves it open for the test."""
    client.close = lambda: None  # type: ignore[method-assign]

    def invoke(*arguments: str | Path, stdin: str | None = None) -> Result:
        session = Session(connect=lambda: client)
        return CliRunner().invoke(
            app, [str(each) for each in arguments], input=stdin, obj=session, catch_exceptions=False
        )

    return invoke
