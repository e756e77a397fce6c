"""Commands for the local stack that need none, and the error of others after it has died."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import httpx
import pytest
from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.errors import NotConnected
from cupel.session import Session
from cupel.stack import invocation
from cupel.stack.access.cloud import CloudAccess
from cupel.stack.access.signatures import AccessKey
from tests.conftest import ROOT
from tests.unit.cupel.fake_api import Connect, Cupel


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data of a stack of the current folder, which is down."""
    data = tmp_path / ".cupel" / "data"
    data.mkdir(parents=True)
    (tmp_path / ".cupel" / "emulator.json").write_text('{"pid": 0, "port": 4999}')
    monkeypatch.chdir(tmp_path)
    return data


def discard(connect: Connect, answer: str | None, *options: str) -> Result:
    """Discard the data with this answer to the question; None means that nobody can be asked."""
    session = Session(connect=connect, can_ask=lambda: answer is not None)
    return CliRunner().invoke(app, ["down", "--discard", *options], input=answer, obj=session)


def test_data_is_deleted_after_a_yes(connect: Connect, data: Path) -> None:
    answer = discard(connect, "y\n")
    assert (answer.exit_code, data.exists()) == (0, False)
    assert f"Delete all data in {data.parent}: definitions, runs and keys?" in answer.stderr


def test_data_stays_after_a_no(connect: Connect, data: Path) -> None:
    assert (discard(connect, "n\n").exit_code, data.exists()) == (1, True)


def test_data_stays_if_nobody_can_be_asked(connect: Connect, data: Path) -> None:
    answer = discard(connect, None)
    assert (answer.exit_code, data.exists(), "--yes" in answer.stderr) == (2, True, True)


def test_a_script_deletes_data_with_yes(connect: Connect, data: Path) -> None:
    assert (discard(connect, None, "--yes").exit_code, data.exists()) == (0, False)


@pytest.mark.usefixtures("data")
def test_the_first_token_of_a_workspace_needs_a_running_stack(cupel: Cupel) -> None:
    answer = cupel("tokens", "bootstrap", "--workspace", "second")
    assert answer.exit_code == 1
    assert answer.stderr == (
        "cupel: no local stack runs here: start it with `cupel up`, or name one on AWS with --stack-name\n"
    )


HEALTH = str(ROOT / "events" / "api-health.json")


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("function", "event", "code", "message"),
    [
        ("nothing", HEALTH, 2, "nothing: is no function of the stack; they are analyze, api, authorize"),
        ("api", "missing.json", 2, "missing.json: is no file with the JSON of an event"),
        ("api", HEALTH, 1, "no stack is up; start it with `cupel up`"),
    ],
)
def test_an_event_is_sent_to_a_function_of_a_running_stack(
    cupel: Cupel, function: str, event: str, code: int, message: str
) -> None:
    answer = cupel("invoke", function, event)
    assert (answer.exit_code, message in answer.stderr) == (code, True), answer.stderr


class Lambda(BaseHTTPRequestHandler):
    """It answers invocations with the event, or as a function that raises."""

    def do_POST(self) -> None:
        event = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        if b"poison" in event:
            self.send_header("X-Amz-Function-Error", "Unhandled")
        self.send_header("Content-Length", str(len(event)))
        self.end_headers()
        self.wfile.write(event if self.path.endswith("/functions/cupel-api/invocations") else b"null".ljust(len(event)))

    def log_message(self, *_: object) -> None:
        return


class Cloud(NamedTuple):
    access: CloudAccess


@pytest.mark.parametrize(("event", "failed"), [({"a": 1}, False), ({"a": "poison"}, True)])
def test_what_a_function_returns_or_raises_is_answered(event: dict[str, Any], failed: bool) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Lambda) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        found = invocation.invoke(Cloud(CloudAccess(url, url, AccessKey("key", "secret"))), "api", event)
        server.shutdown()
        thread.join()
    assert found == (event, failed)


def refused(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("[Errno 111] Connection refused")


@pytest.mark.parametrize(
    ("source", "is_told"), [("/home/me/evals/.cupel/local.json", True), ("CUPEL_API_URL and CUPEL_TOKEN", False)]
)
def test_a_local_stack_that_has_died_is_to_be_started(source: str, is_told: bool) -> None:
    transport = httpx.MockTransport(refused)
    with (
        Client("http://api.test", "cupel_x", source=source, transport=transport, sleep=lambda _: None) as client,
        pytest.raises(NotConnected) as error,
    ):
        client.get_health()
    assert str(error.value).endswith("the local stack has stopped, start it with `cupel up`") is is_told
