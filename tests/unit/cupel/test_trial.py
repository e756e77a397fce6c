"""`cupel report --trial`, against the real API function."""

from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel_core.store.settings import Settings
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport
from tests.unit.api.test_trials import answered, complete, reported, scored

type Invoke = Callable[..., Result]


@pytest.fixture
def api(cloud: Settings) -> ApiClient:
    client = ApiClient(None)
    client.token = client.issue()
    return client


@pytest.fixture
def report(api: ApiClient) -> str:
    return reported(api, answered(scored(lambda index: index % 4 > 1)).completed())


@pytest.fixture
def cupel(api: ApiClient, report: str) -> Invoke:
    """The command; its first wait is long enough for all workers."""

    def work(_: float) -> None:
        trial: dict[str, Any] = api.get(f"{report}/trial").json()
        if trial["status"] == "RUNNING" and trial["comparisonId"] is None:
            complete(trial, lambda index: index % 4 > 1, lambda index: index % 4 > 0)

    def invoke(*arguments: str) -> Result:
        def connect() -> Client:
            return Client("http://api.test", api.token or "", transport=api_transport(api))

        session = Session(connect=connect, sleep=work, can_ask=lambda: False)
        # The summarizer of the report: none, as its texts were written by the fixture.
        run_id = report.split("/")[3]
        return CliRunner().invoke(app, ["report", run_id, "--no-summary", *arguments], obj=session)

    return invoke


def test_a_trial_is_announced_run_and_reported(cupel: Invoke) -> None:
    answer = cupel("--trial", "--trial-scenarios", "20", "--trial-repeats", "4")
    assert answer.exit_code == 0, answer.stderr
    stderr = " ".join(answer.stderr.split())
    assert "trial: 160 conversations about 20 scenarios, $0; it finds a difference of" in stderr
    assert "The revised prompt helps" in answer.stdout
    assert "Trial of the revised prompt" in answer.stdout


def test_a_report_without_trial_starts_none(cupel: Invoke, api: ApiClient) -> None:
    assert "Trial of the revised prompt" not in cupel().stdout
    assert len(api.get("/v1/runs").json()["items"]) == 1


def test_options_of_a_trial_need_one(cupel: Invoke) -> None:
    answer = cupel("--budget", "2")
    assert (answer.exit_code, "only with --trial" in answer.stderr) == (2, True)


def test_a_cancelled_arm_is_told(cupel: Invoke, api: ApiClient, report: str) -> None:
    trial = api.post(f"{report}/trial").json()
    api.post(f"/v1/runs/{trial['revisedRunId']}/cancel")
    answer = cupel("--trial")
    assert (answer.exit_code, "is CANCELLED" in answer.stderr) == (1, True)
