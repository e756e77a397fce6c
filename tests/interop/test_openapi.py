"""The OpenAPI document: a linter finds nothing, and a client generated from it type-checks and starts a run."""

import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from cupel_core.store.settings import Settings
from tests.conftest import ROOT
from tests.interop import tools
from tests.unit.api.client import Client, api_transport

DOCUMENT = ROOT / "docs" / "openapi.json"
START_RUN = Path(__file__).parent / "start_run.py"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the generated package `cupel_client`, and the module that uses it."""
    folder = tmp_path_factory.mktemp("generated")
    tools.generate_client(DOCUMENT, folder / "cupel_client")
    shutil.copy(START_RUN, folder)
    return folder


def test_redocly_finds_no_error_and_no_warning() -> None:
    result = tools.lint_openapi(DOCUMENT)
    assert [(problem["ruleId"], problem["message"]) for problem in result["problems"]] == []
    assert result["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}


def test_the_generated_client_type_checks(generated: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version=3.13", "--config-file=", START_RUN.name]
    checked = subprocess.run(command, cwd=generated, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_generated_client_starts_a_run(generated: Path, cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(generated)
    start_run: Any = import_module("start_run")
    api = Client(None)
    client = start_run.client_for("http://api.test", api.issue())
    client._httpx_args["transport"] = api_transport(api)
    started = start_run.start_run(client)
    assert (started.job_count, started.run.status) == (1, "PENDING")
    assert start_run.read_run(client, started.run.id).created_at == started.run.created_at
