"""`cupel plan`, against the real API function."""

import json
from typing import cast

import pytest

from cupel import plan_comparison
from cupel.client import Client
from cupel.columns import RunColumn
from cupel.commands.plan import Pair, spread_of_run
from cupel.errors import ApiProblem, UsageError
from cupel.json_types import Json
from cupel.session import Session
from cupel_core.domain.analysis.power import scenarios_for
from cupel_core.store.settings import Settings
from tests.compared_runs import run_of
from tests.unit.cupel.api_function import connect_to_api_function
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_compare import cupel as cupel


def test_without_history_a_spread_is_assumed(cupel: Cupel) -> None:
    document = json.loads(cupel("plan", "--effect", "0.5", "--json").stdout)
    assert document["plans"][0] == {"repeats": 1, "scenarios": scenarios_for(0.5, 1, 0.05, 1), "probes": 34}


def test_the_spread_can_be_given(cupel: Cupel) -> None:
    result = cupel("plan", "--effect", "0.1", "--metric", "pass_rate", "--spread", "0.3")
    assert "Standard deviation of scenarios' differences: 0.30, as given." in result.stdout
    assert "conversations per target" in result.stdout


def test_the_spread_of_rates_follows_from_one_of_them(cupel: Cupel) -> None:
    """The difference of two independent answers with rates of 95 and 90 % has a standard deviation of 0.37."""
    document = json.loads(cupel("plan", "--effect", "0.05", "--rate", "0.95", "--json").stdout)
    assert (document["metric"], document["plans"][0]["scenarios"]) == ("PASS_RATE", 434)
    assert document["varianceBetweenScenarios"] == pytest.approx(0.95 * 0.05 + 0.9 * 0.1)


def test_a_spread_from_a_pilot_is_planned_with_its_upper_bound(cupel: Cupel) -> None:
    known = cupel("plan", "--effect", "0.5", "--spread", "1", "--json")
    pilot = cupel("plan", "--effect", "0.5", "--spread", "1", "--pilot-scenarios", "10", "--json")
    first, second = (json.loads(each.stdout)["plans"][0]["scenarios"] for each in (known, pilot))
    assert (first, second) == (34, scenarios_for(0.5, (9 / 5.380053) ** 0.5, 0.05, 1))


def test_a_plan_says_that_added_scenarios_are_a_second_look(cupel: Cupel) -> None:
    result = cupel("plan", "--effect", "0.5", "--spread", "1", "--pilot-scenarios", "10")
    assert "as given, the upper 80% bound from 10 scenarios." in result.stdout
    assert "are a second look at the same question" in result.stdout


def test_the_api_and_python_plan_likewise(cupel: Cupel, cloud: Settings) -> None:
    printed = json.loads(cupel("plan", "--effect", "0.05", "--rate", "0.95", "--targets", "3", "--json").stdout)
    answered = connect_to_api_function().plan_comparison({"effect": 0.05, "rate": 0.95, "targets": 3})
    assert plan_comparison(0.05, rate=0.95, targets=3).document() == answered == printed


@pytest.mark.parametrize(
    ("fields", "field", "why"),
    [
        ({"effect": 0.5, "rate": 0.4, "metric": "DECISION"}, "rate", "is of pass rates; the metric is DECISION"),
        ({"effect": 0.1, "rate": 0.4, "spread": 0.5}, "spread", "follows from the rate; give one of them"),
        ({"effect": 0.7, "rate": 0.4}, "effect", "no rate from 0 to 1 differs by 0.7 from 0.4"),
        ({"effect": 0.7, "pilotScenarios": 9}, "pilotScenarios", "needs the spread that was estimated from them"),
    ],
)
def test_contradictions_are_named(
    cupel: Cupel, cloud: Settings, fields: dict[str, float | str], field: str, why: str
) -> None:
    with pytest.raises(ApiProblem) as refused:
        connect_to_api_function().plan_comparison(fields)
    assert f"{field}: {why}" in str(refused.value)
    kebab = {"pilotScenarios": "pilot-scenarios"}
    options = [part for name, value in fields.items() for part in (f"--{kebab.get(name, name)}", str(value))]
    assert f"--{kebab.get(field, field)}: {why}" in cupel("plan", *options).stderr
    named = {"pilotScenarios": "pilot_scenarios"}
    with pytest.raises(UsageError, match=f"^{named.get(field, field)}: {why}$"):
        plan_comparison(**{named.get(name, name): value for name, value in fields.items()})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"effect": 0}, "effect"), ({"effect": 1, "spread": 5}, "spread"), ({"effect": 0.1, "rate": 1.1}, "rate")],
)
def test_what_is_out_of_its_range_is_refused_in_python_too(fields: dict[str, float], field: str) -> None:
    with pytest.raises(UsageError, match=f"^{field}: must be from"):
        plan_comparison(**fields)  # type: ignore[arg-type]


def test_it_is_estimated_from_two_targets_of_a_run(cupel: Cupel, cloud: Settings) -> None:
    run = run_of("def_shared", "+-++--++" + "++--+-+-", models=("sim/steady", "sim/bold"))
    document = json.loads(cupel("plan", "--effect", "0.1", "--run", run.id, "--json").stdout)
    assert (document["metric"], document["varianceWithinScenarios"]) == ("PASS_RATE", 0)
    assert document["varianceBetweenScenarios"] == pytest.approx(4.875 / 3.822322)
    assert document["pilotScenarios"] == 8


_COLUMNS = [RunColumn(target, target, prompt) for target in ("one", "two") for prompt in ("plain", "brief")]


@pytest.mark.parametrize(
    ("columns", "pair", "baseline", "compared"),
    [
        (_COLUMNS, Pair(), ("one", "plain"), ("two", "plain")),
        (_COLUMNS, Pair(model="one"), ("two", "plain"), ("one", "plain")),
        (_COLUMNS, Pair(prompt="brief"), ("one", "brief"), ("two", "brief")),
        (_COLUMNS, Pair(prompt="brief", against_prompt="plain"), ("one", "plain"), ("one", "brief")),
        (_COLUMNS, Pair("two", "two", "plain"), ("two", "brief"), ("two", "plain")),
        (_COLUMNS[:2], Pair(), ("one", "plain"), ("one", "brief")),
        ([_COLUMNS[0], _COLUMNS[3]], Pair(), ("one", "plain"), ("two", "brief")),
    ],
)
def test_two_columns_are_compared_that_differ_in_one_thing_if_there_are_any(
    columns: list[RunColumn], pair: Pair, baseline: tuple[str, str], compared: tuple[str, str]
) -> None:
    assert [(each.target, each.prompt) for each in pair.in_run(columns)] == [baseline, compared]


def test_it_is_estimated_from_two_prompts_of_one_target(cupel: Cupel, cloud: Settings) -> None:
    run = run_of("def_shared", "+-++--++" + "++--+-+-", prompt_ids=("plain", "brief"))
    document = json.loads(cupel("plan", "--effect", "0.1", "--run", run.id, "--json").stdout)
    assert document["varianceBetweenScenarios"] == pytest.approx(4.875 / 3.822322)


def test_repeats_tell_noise_from_differences(cupel: Cupel, cloud: Settings) -> None:
    run = run_of("def_shared", "+-", models=("sim/steady", "sim/bold"), repeats=2)
    document = json.loads(cupel("plan", "--effect", "0.1", "--run", run.id, "--json").stdout)
    assert (document["varianceBetweenScenarios"], document["varianceWithinScenarios"]) == (0, 0.5)


def test_no_case_is_read(cupel: Cupel, cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of("def_shared", "+-", models=("sim/steady", "sim/bold"), repeats=2)
    for name in ("list_run_cases", "list_analyzed_scenarios", "list_transcripts", "list_probes"):
        monkeypatch.setattr(Client, name, lambda *_, **__: pytest.fail("reads cases"))
    assert cupel("plan", "--effect", "0.1", "--run", run.id).exit_code == 0


class RunWithPersonas:
    """Stands for the API: 10 scenarios with three personas each, asked twice by two targets."""

    def get_run(self, _: str) -> Json:
        targets = [{"id": name, "model": name, "connectorId": None} for name in ("sim/steady", "sim/bold")]
        config = {"targets": targets, "promptIds": [], "repeats": 2}
        return {"config": config, "scenarioCount": 10, "progress": {"total": 120}}

    def create_comparison(self, _: Json) -> Json:
        row = {"scenarios": 10, "standardError": 0.5}
        return {"id": "cmp_1", "status": "COMPLETED", "figures": {"metric": "DECISION", "rows": [row]}}

    def analyze_run(self, _: str, **__: bool | str | None) -> Json:
        return {"status": "COMPLETED"}

    def get_run_analysis(self, _: str, **__: str | None) -> Json:
        columns = [
            {"targetId": "sim/steady", "promptId": None, "consistency": 0.75},
            {"targetId": "sim/bold", "promptId": None, "consistency": 0.5},
        ]
        return {"isStale": False, "figures": {"metric": "DECISION", "columns": columns}}


def test_personas_average_noise_out_as_repeats_do() -> None:
    session = Session(connect=lambda: pytest.fail("another client"))
    found = spread_of_run(session, cast(Client, RunWithPersonas()), "run_1", Pair(), None)
    assert (found.metric, found.personas) == ("DECISION", 3)
    assert found.differences.within == 3.0
    assert found.differences.between == pytest.approx(2.5 * 9 / 5.3800532 - 3 / 6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "sim/none"], "--model: the run has no target 'sim/none'; it has sim/steady"),
        (["--prompt", "a"], "--prompt: the run has no prompt 'a'; it has none"),
        ([], "the run has nothing to compare: name a run with two targets or prompts, or give --spread"),
        (["--spread", "1"], "--spread: is estimated from --run; give one of them"),
    ],
)
def test_what_a_run_does_not_have_is_named(cupel: Cupel, cloud: Settings, arguments: list[str], message: str) -> None:
    result = cupel("plan", "--effect", "0.1", "--run", run_of("def_shared", "+-").id, *arguments)
    assert (result.exit_code, message in result.stderr) == (2, True)
