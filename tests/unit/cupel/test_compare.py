"""`cupel compare`, `comparisons` and `jobs`, against the real API function."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel_core.domain.runs.run import Run
from cupel_core.store.settings import Settings
from tests.compared_runs import carry_out_jobs, run_of
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport
from tests.unit.cupel.fake_api import Cupel

UNKNOWN_NOISE = "; without repeats, it is unknown how much of this is chance"


@pytest.fixture
def cupel(cloud: Settings) -> Cupel:
    """Jobs are carried out while the command waits."""
    api = ApiClient(None)
    token = api.issue()

    def invoke(*arguments: str, input: str | None = None) -> Result:  # noqa: A002 - as of CliRunner
        session = Session(
            connect=lambda: Client("http://api.test", token, transport=api_transport(api)),
            sleep=lambda _: carry_out_jobs() and None,
        )
        return CliRunner().invoke(app, list(arguments), obj=session, catch_exceptions=False, input=input)

    return invoke


@pytest.fixture
def baseline(cloud: Settings) -> Run:
    return run_of("def_shared", "+")


@pytest.fixture
def run(cloud: Settings) -> Run:
    return run_of("def_shared", "-------+")


def test_it_waits_for_the_comparison_and_shows_it(cupel: Cupel, baseline: Run, run: Run) -> None:
    result = cupel("compare", baseline.id, run.id, "--scenarios", "2")
    assert result.exit_code == 0
    assert "LOWER" in result.stdout
    assert "sim/steady has a pass rate that is 87.5 percentage points lower than in the baseline" in result.stdout
    assert "caution: Fewer than 10 scenarios: only large differences can be detected." in result.stdout
    assert "case 0" in result.stdout
    assert "case 2" not in result.stdout


def test_of_several_targets_each_verdict_and_scenario_names_its_own(cupel: Cupel) -> None:
    models = ("sim/steady", "sim/bold")
    before, after = (run_of("def_shared", passes, models=models) for passes in ("+" * 16, "-" + "+" * 14 + "-"))
    printed = cupel("compare", before.id, after.id).stdout
    assert "sim/steady: Not enough data: sim/steady has a pass rate that is 12.5 percentage points lower" in printed
    assert "all targets together: " in printed
    assert "Each interval is for its row alone. The adjusted p allows for the 3 rows that were tested." in printed
    changed = printed[printed.index("most changed scenarios") :].splitlines()[1:]
    assert [line.split()[:3] for line in changed[:2]] == [["case", "0", "sim/steady"], ["case", "7", "sim/bold"]]
    assert changed[2:] == ["2 of 2 changes: 0 rose and 2 fell, 14 are unchanged" + UNKNOWN_NOISE]


def test_of_equal_changes_those_for_the_worse_are_shown_first(cupel: Cupel) -> None:
    before, after = (run_of("def_shared", passes) for passes in ("-+" * 4, "+-" * 3 + "-+"))
    printed = cupel("compare", before.id, after.id, "--scenarios", "4").stdout
    shown = printed[printed.index("most changed scenarios") :].splitlines()[1:]
    assert [line.split()[1] for line in shown[:4]] == ["1", "3", "5", "0"]
    assert shown[4:] == ["4 of 6 changes: 3 rose and 3 fell, 2 are unchanged" + UNKNOWN_NOISE]


def test_runs_without_a_difference_have_no_changed_scenarios(cupel: Cupel) -> None:
    before, after = (run_of("def_shared", "+-") for _ in range(2))
    assert "most changed" not in cupel("compare", before.id, after.id).stdout


def test_what_the_sides_took_stands_below_the_verdicts(cupel: Cupel, baseline: Run, run: Run) -> None:
    printed = cupel("compare", baseline.id, run.id).stdout
    assert "tokens per conversation" in printed
    assert "of all conversations of either side; they are not tested" in printed
    assert "7 → 7 (0.0%)" in printed
    assert "without decision" not in printed


def test_costs_and_times_are_shown_as_ratios(cupel: Cupel) -> None:
    def amounts(factor: float) -> dict[str, Any]:
        return {
            "cost_usd": lambda index: 0.001 * (1 + index) * factor,
            "duration_ms": lambda index: round(1_000 * (1 + index) * factor) + index % 3,
        }

    before, after = (run_of("def_shared", "+", **amounts(factor)) for factor in (1.0, 1.5))
    printed = cupel("compare", before.id, after.id).stdout
    assert "+50.0%" in printed
    assert "In all 8 scenarios, sim/steady costs 50.0% more than in the baseline (adjusted p 0.004)." in printed
    assert "so the provider's load may be the reason." in printed
    assert "paired by scenario; each interval is for its row alone" in printed


def test_costs_without_a_ratio_say_why(cupel: Cupel) -> None:
    before, after = run_of("def_shared", "+", cost_usd=lambda _: None), run_of("def_shared", "+")
    printed = cupel("compare", before.id, after.id).stdout
    assert "Too few scenarios have a known cost above $0 on both sides: 0 of at least 5." in printed
    assert "scenarios without a ratio of cost: 8 with a conversation that cost nothing" in printed


@pytest.mark.parametrize(("kind", "code"), [("lower", 1), ("different", 1), ("inconclusive", 0)])
def test_a_verdict_can_fail_a_pipeline(cupel: Cupel, baseline: Run, run: Run, kind: str, code: int) -> None:
    result = cupel("compare", baseline.id, run.id, "--fail-if", kind)
    assert result.exit_code == code
    assert ("gate: sim/steady: LOWER" if code else "gate: passed") in result.stderr


def test_targets_of_one_run_are_compared(cupel: Cupel) -> None:
    run = run_of("def_shared", "++++++++--------", models=("sim/steady", "sim/bold"))
    result = cupel("compare", run.id, "--model", "sim/bold", "--against", "sim/steady", "--json")
    row = json.loads(result.stdout)["figures"]["rows"][0]
    assert (row["verdict"], row["baseline"][0]["targetId"]) == ("LOWER", "sim/steady")


def test_a_second_run_or_targets_are_needed(cupel: Cupel, run: Run) -> None:
    result = cupel("compare", run.id)
    assert result.exit_code == 2
    assert "name a second run, targets of the run with --model and --against, or a --rescore" in result.stderr


def test_the_json_has_the_changed_scenarios(cupel: Cupel, baseline: Run, run: Run) -> None:
    document = json.loads(cupel("compare", baseline.id, run.id, "--json").stdout)
    assert document["verdict"] == "LOWER"
    assert [each["change"] for each in document["scenarios"]] == ["decreased"] * 7 + ["unchanged"]


def test_what_cannot_be_compared_is_an_error(cupel: Cupel, baseline: Run) -> None:
    result = cupel("compare", baseline.id, "run_none")
    assert result.exit_code == 2
    assert "comparison.runId: there is no run run_none" in result.stderr


def test_stored_comparisons_are_listed_shown_and_deleted(cupel: Cupel, baseline: Run, run: Run) -> None:
    comparison_id = json.loads(cupel("compare", baseline.id, run.id, "--json").stdout)["id"]
    assert comparison_id in cupel("comparisons", "list", "--run", run.id).stdout
    assert "LOWER" in cupel("comparisons", "show", comparison_id).stdout
    assert cupel("comparisons", "delete", comparison_id).exit_code == 0
    assert cupel("comparisons", "show", comparison_id).exit_code == 2


def test_runs_of_a_comparison_are_listed_by_name(cupel: Cupel, baseline: Run, run: Run) -> None:
    cupel("runs", "update", run.id, "--name", "colder")
    cupel("compare", baseline.id, run.id)
    listed = cupel("comparisons", "list").stdout
    assert (" colder " in listed, run.id in listed, baseline.id in listed) == (True, False, True)


def test_jobs_are_listed(cupel: Cupel, baseline: Run, run: Run) -> None:
    cupel("compare", baseline.id, run.id)
    assert "storing" in cupel("jobs", "--status", "completed").stdout
    assert json.loads(cupel("jobs", "--status", "failed", "--json").stdout) == []
    assert "there is no run run_none" in cupel("jobs", "--run", "run_none").stderr


def test_watching_a_run_fails_if_it_is_worse_than_another(cupel: Cupel, baseline: Run, run: Run) -> None:
    worse = cupel("watch", run.id, "--fail-if-worse-than", baseline.id)
    assert (worse.exit_code, worse.stderr.splitlines()[-2:]) == (1, ["gate: sim/steady: LOWER", "gate: failed"])
    better = cupel("watch", baseline.id, "--fail-if-worse-than", run.id)
    assert (better.exit_code, better.stderr.splitlines()[-1]) == (0, "gate: passed, pass rate 100.0%")


@pytest.mark.parametrize("fail_under", ["0.99", "0.01"])
def test_all_gates_of_a_run_have_one_verdict_which_is_last(
    cupel: Cupel, baseline: Run, run: Run, fail_under: str
) -> None:
    result = cupel("watch", run.id, "--fail-under", fail_under, "--fail-if-worse-than", baseline.id)
    verdicts = [line for line in result.stderr.splitlines() if line in ("gate: passed", "gate: failed")]
    assert (result.exit_code, verdicts) == (1, ["gate: failed"])
    assert result.stderr.splitlines()[-1] == "gate: failed"


@pytest.mark.parametrize("option", ["--fail-if-worse-than", "--not-worse-than"])
def test_a_gate_that_cannot_find_anything_fails(cupel: Cupel, option: str) -> None:
    """Four scenarios that all fell are no proof, and no reason to pass."""
    before, after = run_of("def_shared", "+", 4), run_of("def_shared", "-", 4)
    result = cupel("watch", after.id, option, before.id)
    assert result.exit_code == 1
    assert (
        "gate: sim/steady: nothing can be told from 4 scenarios (at least 5 are needed); --allow-inconclusive accepts "
        "that" in result.stderr
    )
    assert cupel("watch", after.id, option, before.id, "--allow-inconclusive").exit_code == 0
    assert cupel("compare", before.id, after.id, "--fail-if", "lower").exit_code == 1


def test_a_gate_that_passes_says_what_it_would_have_found(cupel: Cupel, baseline: Run) -> None:
    result = cupel("watch", run_of("def_shared", "+").id, "--fail-if-worse-than", baseline.id)
    assert result.exit_code == 0
    assert "sim/steady: a drop of 49.5 pp or more would have been found in 80% of cases\n" in result.stderr


def test_not_worse_needs_the_margin_to_be_ruled_out(cupel: Cupel, baseline: Run) -> None:
    """Eight scenarios that all passed on both sides rule out a drop of 25 points, and not one of 24."""
    same = run_of("def_shared", "+")
    refused = cupel("watch", same.id, "--not-worse-than", baseline.id, "--margin", "0.25")
    assert refused.exit_code == 1
    assert "gate: sim/steady: it may be lower by 25.0 pp or more (by up to 25.3 pp)" in refused.stderr
    assert cupel("watch", same.id, "--not-worse-than", baseline.id, "--margin", "0.26").exit_code == 0


def test_the_level_of_a_gate_can_be_chosen(cupel: Cupel, baseline: Run, run: Run) -> None:
    """Seven of eight scenarios fell, with a p of 1 in 128."""
    assert cupel("watch", run.id, "--fail-if-worse-than", baseline.id, "--alpha", "0.01").exit_code == 1
    assert cupel("watch", run.id, "--fail-if-worse-than", baseline.id, "--alpha", "0.005").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--margin", "0.1"), "--margin: needs --fail-if-worse-than or --not-worse-than"),
        (("--errors-as", "fail"), "--errors-as: needs --fail-under, --fail-if-worse-than or --not-worse-than"),
        (("--allow-inconclusive",), "--allow-inconclusive: needs --fail-if-worse-than or --not-worse-than"),
        (("--confidence", "0.9"), "--confidence: needs --fail-under"),
        (
            ("--not-worse-than", "run_1", "--fail-if-worse-than", "run_1"),
            "--not-worse-than: cannot be combined with --fail-if-worse-than",
        ),
    ],
)
def test_options_of_gates_need_each_other(cupel: Cupel, run: Run, arguments: tuple[str, ...], message: str) -> None:
    started = ["scale", "--model", "sim/steady", "--goal", "x", "--watch"], ["evals", "run", "evl_1", "--watch"]
    for command in (["watch", run.id], *started):
        result = cupel(*command, *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
