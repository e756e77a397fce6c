"""A promptfoo configuration imported, run with its echo and exported, through the API and the command, on moto."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel_core.base.messages import RunRef
from cupel_core.store import executions, runs
from cupel_core.store.settings import Settings
from tests.interop import tools
from tests.interop.suites import SUITE
from tests.started_runs import dispatch_and_probe
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport

WORKSPACE = "acme"


@pytest.fixture(scope="session", autouse=True)
def _installed() -> None:
    tools.install()


class Cupel:
    """The `cupel` command, with a run of the imported suite whose probes are complete but which is not finished."""

    def __init__(self, client: Client) -> None:
        self.client = client
        imported = self("import", "promptfoo", str(SUITE))
        definition = imported["definitions"][0]
        self.definition_id = str(definition["id"])
        self.report = imported["report"]
        started = client.create_run({"definitionId": definition["id"], "models": definition["models"], "repeats": 2})
        self.run_id = str(started["run"]["id"])
        dispatch_and_probe(runs.get(RunRef(WORKSPACE, self.run_id)))

    def __call__(self, *arguments: str) -> Any:
        session = Session(connect=lambda: self.client)
        result = CliRunner().invoke(app, [*arguments, "--json"], obj=session, catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)


@pytest.fixture
def cupel(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cupel]:
    monkeypatch.setattr(executions, "start_finish", lambda *_: None)
    api = ApiClient(None)
    client = Client("http://api.test", api.issue(WORKSPACE), transport=api_transport(api))
    monkeypatch.setattr(client, "close", lambda: None)
    return Cupel(client)
