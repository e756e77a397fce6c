"""Commands for the local stack that need none, and the error of others after it has died."""

from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.errors import NotConnected
from cupel.session import Session
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
