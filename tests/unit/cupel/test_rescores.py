"""`cupel rescore`, `rescores` and `scores`, against the real API function."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel_core.accounts import keys as accounts
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.providers.errors import ProviderError
from cupel_core.runs.rescoring import phases
from cupel_core.runs.rescoring.slices import rescore_slice
from cupel_core.store import executions
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.compared_runs import carry_out_jobs
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport
from tests.unit.cupel.fake_api import Cupel

FILE = "assertions:\n  - {type: contains, value: 'yes', metric: agrees}\n"


@pytest.fixture
def run(cloud: Settings) -> Run:
    """One model, two scenarios, two repeats; it agrees in the first two probes."""
    two = tuple(Scenario("", "", (Message(MessageRole.USER, "?"),)) for _ in range(2))
    given = AnsweredRun(two, ("sim/steady",), repeats=2, workspace="acme")
    given.answer = lambda index: "yes" if index < 3 else "no"
    return given.completed()


@pytest.fixture
def cupel(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Cupel:
    """Rescores are started, and executed while the command waits."""
    api, begun = ApiClient(None), list[tuple[RunRef, str]]()
    token = api.issue()
    monkeypatch.setattr(executions, "start_rescore", lambda ref, rescore_id, *_: begun.append((ref, rescore_id)))

    def carry_out(_: float) -> None:
        for ref, rescore_id in begun:
            for part in phases.begin(ref, rescore_id).slices:
                asyncio.run(rescore_slice(ref, rescore_id, part, lambda: 900.0, ScriptedJudge()))
            phases.complete(ref, rescore_id, NOW)
        begun.clear()
        carry_out_jobs()

    def invoke(*arguments: str) -> Result:
        session = Session(
            connect=lambda: Client("http://api.test", token, transport=api_transport(api)),
            sleep=carry_out,
        )
        return CliRunner().invoke(app, list(arguments), obj=session, catch_exceptions=False)

    return invoke


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "overrides.yaml"
    path.write_text(FILE)
    return str(path)


def output_of(cupel: Cupel, *arguments: str) -> Any:
    result = cupel(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_run_is_rescored_with_a_file_and_options(cupel: Cupel, run: Run, file: str) -> None:
    options = ("--file", file, "--judge-model", "sim/contrarian", "--success", "polite")
    config = output_of(cupel, "rescore", run.id, *options)["config"]
    assert (config["assertions"][0]["metric"], config["judgeModel"]) == ("agrees", "sim/contrarian")
    assert config["criteria"] == {"success": "polite"}


def test_a_rescore_that_scores_nothing_fails_and_says_why(
    cupel: Cupel, run: Run, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = ProviderError(ProbeErrorCode.AUTH, "HTTP 403: this key may not judge", final=True)

    async def refuse(*_: Any) -> Any:
        raise refused

    monkeypatch.setattr(ScriptedJudge, "__call__", refuse)
    Path(file).write_text("assertions:\n  - {type: g-eval, value: is brief}\n")
    options = ("--file", file, "--judge-model", "sim/contrarian")
    result = cupel("rescore", run.id, *options, "--watch")
    assert result.exit_code == 1
    assert "FAILED  0 completed and 4 errored of 4 transcripts" in result.stdout
    cause = "judge_failed (auth) of sim/contrarian: the judge sim/contrarian: auth: HTTP 403: this key may not judge"
    assert f"sim/steady: 4 not scored, {cause}" in result.stdout
    assert f"cupel rescore {run.id} [--judge-model PROVIDER/NAME] --watch scores the stored answers" in result.stdout
    stopped = "the judge sim/contrarian gave no usable verdict on the first 3 answers (judge_failed, auth)"
    assert f"the rescore was stopped: {stopped}" in result.stderr
    again = json.loads(cupel("scores", run.id, "--rescore", rescore_id(result), "--json").stdout)
    (reason,) = again["models"][0]["unscoredReasons"]
    assert (reason["code"], reason["providerCode"], reason["count"]) == ("judge_failed", "auth", 4)


def rescore_id(result: Result) -> str:
    return next(word for word in result.stdout.split() if word.startswith("rsc_"))


def test_watching_ends_with_the_scores(cupel: Cupel, run: Run, file: str) -> None:
    result = cupel("rescore", run.id, "--file", file, "--watch")
    assert result.exit_code == 0, result.stderr
    assert "4 completed and 0 errored of 4 transcripts" in result.stdout
    assert "75.0% ± 25.0%" in result.stdout
    assert "pass@2" in result.stdout
    assert "50.0% ± 50.0%" in result.stdout
    assert "2 of 2" in result.stdout
    assert "agrees 0.75" in result.stdout


def test_a_rescore_is_compared_with_the_runs_own_results(cupel: Cupel, run: Run, file: str) -> None:
    rescored = rescore_id(cupel("rescore", run.id, "--file", file, "--watch"))
    compared = json.loads(cupel("compare", run.id, "--rescore", rescored, "--json").stdout)
    assert (compared["baseline"]["rescoreId"], compared["comparison"]["rescoreId"]) == (None, rescored)
    assert (compared["status"], len(compared["figures"]["rows"])) == ("COMPLETED", 1)
    listed = cupel("rescores", run.id)
    assert f"cupel scores {run.id} --rescore {rescored}, cupel compare {run.id} --rescore {rescored}" in listed.stderr


@pytest.fixture
def scored_run(cloud: Settings) -> Run:
    """Its own scoring passes the first and the last probe; "yes" is in the first three answers."""
    two = tuple(Scenario("", f"case {number}", (Message(MessageRole.USER, "?"),)) for number in range(2))
    given = AnsweredRun(two, ("sim/steady",), repeats=2, workspace="acme")
    given.answer = lambda index: "yes" if index < 3 else "no"
    given.scoring = lambda index: Scoring(index in (0, 3), float(index in (0, 3)), "as seen by the run")
    return given.completed()


def test_rescores_are_listed_with_their_agreement(cupel: Cupel, scored_run: Run, file: str) -> None:
    rescored = rescore_id(cupel("rescore", scored_run.id, "--file", file, "--watch"))
    shown = cupel("rescores", scored_run.id).stdout
    [row] = [line.split() for line in shown.splitlines() if line.startswith(rescored) and "κ" not in line][1:]
    assert row[:5] == [rescored, "4", "75.0%", "50.0%", "25.0%"]
    assert "fewer than 30 conversations" in shown


def test_a_run_without_own_results_has_no_agreement(cupel: Cupel, run: Run, file: str) -> None:
    cupel("rescore", run.id, "--file", file, "--watch")
    assert "agreement" not in cupel("rescores", run.id).stdout


def test_a_rescore_is_exported_instead_of_the_runs_own_results(cupel: Cupel, scored_run: Run, file: str) -> None:
    rescored = rescore_id(cupel("rescore", scored_run.id, "--file", file, "--watch"))
    own, other = (
        [json.loads(line) for line in cupel("export", scored_run.id, "--format", "jsonl", *options).stdout.splitlines()]
        for options in ((), ("--rescore", rescored))
    )
    assert [each["result"]["success"] for each in own] == [True, False, False, True]
    assert [each["result"]["success"] for each in other] == [True, True, True, False]
    assert {each["rescoreId"] for each in other} == {rescored}
    assert other[0]["scoring"]["metrics"] == {"agrees": 1.0}
    assert [each["content"] for each in own] == [each["content"] for each in other]
    table = cupel("export", scored_run.id, "--format", "csv", "--rescore", rescored).stdout
    assert table.splitlines()[0].split(",").count("rescoreId") == 1


def test_a_rescore_of_an_unknown_id_is_not_exported(cupel: Cupel, scored_run: Run) -> None:
    refused = cupel("export", scored_run.id, "--format", "jsonl", "--rescore", "rsc_unknown")
    assert (refused.exit_code, "there is no rescore rsc_unknown" in refused.stderr) == (2, True)


def test_a_rescore_is_analyzed(cupel: Cupel, scored_run: Run, file: str) -> None:
    rescored = rescore_id(cupel("rescore", scored_run.id, "--file", file, "--watch"))
    figures = output_of(cupel, "analyze", scored_run.id, "--rescore", rescored)
    assert figures["rescoreId"] == rescored
    assert figures["figures"]["columns"][0]["estimate"]["passRate"]["successes"] == 3
    shown = cupel("analyze", scored_run.id, "--rescore", rescored)
    assert shown.exit_code == 0, shown.stderr


def test_rescores_are_listed_with_their_overrides(cupel: Cupel, run: Run, file: str) -> None:
    cupel("rescore", run.id, "--file", file, "--judge-model", "sim/contrarian")
    assert "1 assertion, sim/contrarian" in cupel("rescores", run.id).stdout
    assert [each["status"] for each in output_of(cupel, "rescores", run.id)] == ["PENDING"]


def test_a_failed_rescore_is_a_failure_of_the_command(
    cupel: Cupel, run: Run, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(ref: RunRef, rescore_id: str) -> None:
        phases.fail(ref, rescore_id, "score", "States.Timeout", NOW)

    monkeypatch.setattr(executions, "start_rescore", fail)
    result = cupel("rescore", run.id, "--file", file, "--watch")
    assert (result.exit_code, "failed in score: States.Timeout" in result.stderr) == (1, True)


def test_scores_show_each_model_and_scenario(cupel: Cupel, run: Run, file: str) -> None:
    cupel("rescore", run.id, "--file", file, "--watch")
    rescore_id = output_of(cupel, "rescores", run.id)[0]["id"]
    result = output_of(cupel, "scores", run.id, "--rescore", rescore_id, "--scenarios")
    assert [(row["successes"], row["passHatK"]) for row in result["scenarios"]] == [(2, 1.0), (1, 0.0)]
    assert result["models"][0]["passHatK"] == 0.5
    limited = output_of(cupel, "scores", run.id, "--rescore", rescore_id, "--scenarios", "--limit", "1")
    assert limited["scenarios"] == result["scenarios"][:1]
    shown = cupel("scores", run.id, "--rescore", rescore_id, "--scenarios").stdout
    assert "pass^2" in shown
    assert "scenario" in shown


def test_results_of_a_rescore_name_their_scenarios(cupel: Cupel, run: Run, file: str) -> None:
    cupel("rescore", run.id, "--file", file, "--watch")
    rescore_id = output_of(cupel, "rescores", run.id)[0]["id"]
    probes = output_of(cupel, "scores", run.id, "--rescore", rescore_id, "--probes")
    shown = cupel("scores", run.id, "--rescore", rescore_id, "--probes").stdout
    names = {each["probeIndex"]: each["scenarioName"] for each in output_of(cupel, "transcripts", run.id)}
    lines = {int(line.split()[0]): line for line in shown.splitlines() if line.split()[0].isdecimal()}
    assert len(lines) == len(probes)
    for probe in probes:
        assert probe["scenarioName"] == names[probe["probeIndex"]]
        assert f" {probe['scenarioName']} " in lines[probe["probeIndex"]]
        assert probe["scenarioId"] not in lines[probe["probeIndex"]]


def test_without_repeats_there_is_no_pass_at_k(cupel: Cupel, run: Run) -> None:
    shown = cupel("scores", run.id, "-k", "1").stdout
    assert "pass@" not in shown


def test_a_rescore_by_an_unknown_model_is_a_usage_error(cupel: Cupel, run: Run) -> None:
    assert cupel("rescore", run.id, "--judge-model", "nobody/x").exit_code == 2


def test_a_rescore_that_has_used_up_its_budget_says_so(cupel: Cupel, run: Run) -> None:
    accounts.update_provider("acme", "sim", {"prices": (ModelPrice(None, 1_000.0, 1_000.0),)})
    rubric = ["--judge-model", "sim/bold", "--success", "is polite"]
    result = cupel("rescore", run.id, *rubric, "--budget", "0.01", "--watch")
    assert result.exit_code == 1
    assert "the rescore was stopped: its budget of $0.01 was used up after 0 of 4 transcripts" in result.stderr
    assert "$0 of $0.01 spent" in result.stdout


def test_a_rescore_continues_with_a_greater_budget(cupel: Cupel, run: Run) -> None:
    accounts.update_provider("acme", "sim", {"prices": (ModelPrice(None, 1_000.0, 1_000.0),)})
    cupel("rescore", run.id, "--judge-model", "sim/bold", "--success", "is polite", "--budget", "0.01", "--watch")
    [rescore] = output_of(cupel, "rescores", run.id)
    result = cupel("budget", "raise", run.id, "--rescore", rescore["id"], "--to", "1000")
    assert result.exit_code == 0, result.stderr
    assert f"{rescore['id']}  PENDING" in result.stdout
    assert "of $1,000.00 spent" in result.stdout
