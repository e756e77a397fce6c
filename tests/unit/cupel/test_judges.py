"""`cupel judges compare` and `drift`, against the real API function; rescores are executed while the command waits."""

import asyncio
import json

import pytest
from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import Run
from cupel_core.runs.rescoring import phases
from cupel_core.runs.rescoring.slices import rescore_slice
from cupel_core.store import executions
from cupel_core.store.settings import Settings
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport
from tests.unit.api.test_judge_comparisons import labelled_run
from tests.unit.cupel.fake_api import Cupel


@pytest.fixture
def api(cloud: Settings) -> ApiClient:
    client = ApiClient(None)
    client.token = client.issue()
    return client


@pytest.fixture
def run(api: ApiClient) -> Run:
    return labelled_run(api)


@pytest.fixture
def cupel(api: ApiClient, monkeypatch: pytest.MonkeyPatch) -> Cupel:
    """The judge of every rescore passes all answers."""
    begun = list[tuple[RunRef, str]]()
    monkeypatch.setattr(executions, "start_rescore", lambda ref, rescore_id, *_: begun.append((ref, rescore_id)))

    def carry_out(_: float) -> None:
        for ref, rescore_id in begun:
            for part in phases.begin(ref, rescore_id).slices:
                asyncio.run(rescore_slice(ref, rescore_id, part, lambda: 900.0, ScriptedJudge(lambda _: True)))
            phases.complete(ref, rescore_id, NOW)
        begun.clear()

    def invoke(*arguments: str) -> Result:
        transport = api_transport(api)
        session = Session(connect=lambda: Client("http://api.test", api.token, transport=transport), sleep=carry_out)
        return CliRunner().invoke(app, list(arguments), obj=session, env={"COLUMNS": "200"})

    return invoke


def test_judges_grade_labelled_transcripts_and_are_compared(cupel: Cupel, run: Run) -> None:
    shown = cupel("judges", "compare", run.id, "--judges", "sim/steady, sim/contrarian,sim/steady")
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("rsc_") == 3  # two rows, and the choice
    assert "sim/contrarian" in shown.output
    assert "85.0%" in shown.output
    assert "compared on 20 labelled transcripts" in shown.output
    assert "chosen from 3 on the same labels, so its agreement is too high" in shown.output


def test_a_comparison_of_judges_as_json(cupel: Cupel, run: Run) -> None:
    found = json.loads(cupel("judges", "compare", run.id, "--judges", "sim/steady", "--json").stdout)
    assert [each["judgeModel"] for each in found["judges"]][1] == "sim/steady"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("compare", "--judges", ","), "--judges: must name 1 to 10 models: found 0"),
        (("compare", "--judges", ",".join(f"sim/{n}" for n in range(11))), "must name 1 to 10 models: found 11"),
        (("compare", "--judges", "sim/bold", "--criterion", "decision"), "rescores judge no codes"),
        (("drift", "--criterion", "decision"), "rescores judge no codes"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_a_judge_is_paid(
    cupel: Cupel, run: Run, options: tuple[str, ...], words: str
) -> None:
    command, *others = options
    refused = cupel("judges", command, run.id, *others)
    assert (refused.exit_code, words in " ".join(refused.output.split())) == (2, True)
    assert cupel("rescores", run.id, "--json").output.strip() == "[]"


def test_a_judge_that_became_lenient_is_stale(cupel: Cupel, run: Run) -> None:
    shown = cupel("judges", "drift", run.id, "--count", "20").output
    assert ": stale" in shown
    assert "10 of 20 verdicts flipped: 10 to pass, 0 to fail (p 0.00098)" in shown
    assert f"{run.id}-0: fail before, pass now" in shown


def test_few_flips_are_no_sign_of_drift(cupel: Cupel, run: Run) -> None:
    shown = cupel("judges", "drift", run.id, "--count", "2").output
    assert ": no sign of drift" in shown
    assert "5 flips in one direction and none in the other are needed" in shown
