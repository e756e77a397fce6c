"""`cupel rescore`, `scorings` and `scores`, against the real API function."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.turns.model_request import Message, Role
from cupel_core.messages import RunRef
from cupel_core.rescoring import phases
from cupel_core.rescoring.slices import score_slice
from cupel_core.settings import Settings
from cupel_core.store import executions, scenarios, snapshots
from tests.answered_runs import Answered
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW
from tests.unit.api.client import Client as ApiClient
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_against_the_api import through

FILE = "assertions:\n  - {type: contains, value: 'yes', metric: agrees}\n"


@pytest.fixture
def run(cloud: Settings) -> Iterator[Run]:
    """One model, two scenarios, two repeats; it agrees in the first two probes."""
    two = tuple(Scenario("", "", (Message(Role.USER, "?"),)) for _ in range(2))
    given = Answered(two, ("sim/steady",), repeats=2, workspace="acme")
    given.answer = lambda index: "yes" if index < 3 else "no"
    yield given.completed()
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()


@pytest.fixture
def cupel(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Cupel:
    """A scoring is begun, and carried out while the command waits."""
    api, begun = ApiClient(None), list[tuple[RunRef, str]]()
    token = api.issue()
    monkeypatch.setattr(executions, "begin_scoring", lambda ref, scoring_id: begun.append((ref, scoring_id)))

    def carry_out(_: float) -> None:
        for ref, scoring_id in begun:
            for part in phases.begin(ref, scoring_id).slices:
                asyncio.run(score_slice(ref, scoring_id, part, lambda: 900.0, ScriptedJudge()))
            phases.complete(ref, scoring_id, NOW)

    def invoke(*arguments: str) -> Result:
        session = Session(
            connect=lambda: Client("http://api.test", token, transport=through(api)),
            sleep=carry_out,
        )
        return CliRunner().invoke(app, list(arguments), obj=session, catch_exceptions=False)

    return invoke


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "otherwise.yaml"
    path.write_text(FILE)
    return str(path)


def answer(cupel: Cupel, *arguments: str) -> Any:
    told = cupel(*arguments, "--json")
    assert told.exit_code == 0, told.stderr
    return json.loads(told.stdout)


def test_a_run_is_scored_anew_by_a_file_and_options(cupel: Cupel, run: Run, file: str) -> None:
    options = ("--file", file, "--judge-model", "sim/other", "--success", "polite")
    config = answer(cupel, "rescore", run.id, *options)["config"]
    assert (config["assertions"][0]["metric"], config["judgeModel"]) == ("agrees", "sim/other")
    assert config["criteria"] == {"success": "polite"}


def test_watching_ends_with_what_it_comes_to(cupel: Cupel, run: Run, file: str) -> None:
    told = cupel("rescore", run.id, "--file", file, "--watch")
    assert told.exit_code == 0, told.stderr
    assert "4 scored, 0 errors, of 4 transcripts" in told.stdout
    assert "75.0% ± 25.0%" in told.stdout
    assert "pass@2" in told.stdout
    assert "agrees 0.75" in told.stdout


def test_scorings_are_listed_with_what_is_otherwise(cupel: Cupel, run: Run, file: str) -> None:
    cupel("rescore", run.id, "--file", file, "--judge-model", "sim/other")
    assert "1 assertions, sim/other" in cupel("scorings", run.id).stdout
    assert [each["status"] for each in answer(cupel, "scorings", run.id)] == ["PENDING"]


def test_a_scoring_that_failed_is_a_failure_of_the_command(
    cupel: Cupel, run: Run, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(ref: RunRef, scoring_id: str) -> None:
        phases.fail(ref, scoring_id, "score", "States.Timeout", NOW)

    monkeypatch.setattr(executions, "begin_scoring", fail)
    told = cupel("rescore", run.id, "--file", file, "--watch")
    assert (told.exit_code, "failed in score: States.Timeout" in told.stderr) == (1, True)


def test_scores_show_each_model_and_scenario(cupel: Cupel, run: Run, file: str) -> None:
    cupel("rescore", run.id, "--file", file, "--watch")
    scoring_id = answer(cupel, "scorings", run.id)[0]["id"]
    told = answer(cupel, "scores", run.id, "--scoring", scoring_id, "--scenarios")
    assert [(row["successes"], row["passHatK"]) for row in told["scenarios"]] == [(2, 1.0), (1, 0.0)]
    assert told["models"][0]["passHatK"] == 0.5
    shown = cupel("scores", run.id, "--scoring", scoring_id, "--scenarios").stdout
    assert "pass^2" in shown
    assert "scenario" in shown


def test_without_repeats_there_is_no_pass_at_k(cupel: Cupel, run: Run) -> None:
    shown = cupel("scores", run.id, "-k", "1").stdout
    assert "pass@" not in shown


def test_a_scoring_by_nothing_known_is_wrong_use(cupel: Cupel, run: Run) -> None:
    assert cupel("rescore", run.id, "--judge-model", "nobody/x").exit_code == 2
