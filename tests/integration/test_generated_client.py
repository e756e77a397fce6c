"""A client generated from the OpenAPI document starts a run on a stack."""

import shutil
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from cupel.stack.address import LocalStack
from tests.interop import tools
from tests.interop.test_openapi import DOCUMENT, START_RUN

MAX_SECONDS = 30.0


def test_the_generated_client_runs_an_evaluation(
    stack: LocalStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools.install()
    tools.generate_client(DOCUMENT, tmp_path / "cupel_client")
    shutil.copy(START_RUN, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    start_run: Any = import_module("start_run")
    with start_run.client_for(stack.api_url, stack.token) as client:
        run = start_run.start_run(client).run
        deadline = monotonic() + MAX_SECONDS
        while run.status not in ("COMPLETED", "FAILED") and monotonic() < deadline:
            sleep(0.2)
            run = start_run.read_run(client, run.id)
    assert (run.status, run.progress.completed) == ("COMPLETED", 1)
