"""A run is analyzed at its end, comparisons are jobs, and readers get what both computed."""

from collections import Counter

import pytest

from cupel.client import Client
from tests.eval_api import Json, create_definition, figures_of, start_run, wait_for_end, wait_until

MODELS = ("sim/steady", "sim/bold")
SCENARIOS, REPEATS = 12, 10
PROBES = SCENARIOS * REPEATS * len(MODELS)


@pytest.fixture(scope="module")
def run(api: Client) -> Json:
    run_id = start_run(api, create_definition(api, SCENARIOS), *MODELS, repeats=REPEATS, sampleSeed=7)
    return wait_for_end(api, run_id, seconds=120)


@pytest.fixture(scope="module")
def figures(api: Client, run: Json) -> Json:
    return figures_of(api, run)


@pytest.fixture(scope="module")
def comparison(api: Client, run: Json) -> Json:
    sides = [{"runId": run["id"], "targets": [model]} for model in MODELS]
    requested = api.create_comparison({"baseline": sides[0], "comparison": sides[1]})

    def ended() -> Json | None:
        found = api.get_comparison(requested["id"])
        return None if found["status"] == "QUEUED" else dict(found)

    return wait_until(ended, seconds=60) or {}


def test_figures_are_those_of_the_transcripts(api: Client, run: Json, figures: Json) -> None:
    column = figures["columns"][1]
    counted = {each["code"]: each["estimate"]["successes"] for each in column["estimate"]["distribution"]}
    codes = Counter(each["decisionCode"] for each in api.list_transcripts(run["id"], model=column["targetId"]))
    assert {code: count for code, count in counted.items() if count} == dict(codes)


def test_the_result_table_has_the_same_figures(api: Client, run: Json, figures: Json) -> None:
    table = api.get_run_results(run["id"])
    assert (table["isComplete"], table["counted"]) == (True, PROBES)
    assert [row["estimate"] for row in table["columns"]] == [column["estimate"] for column in figures["columns"]]


def test_an_analysis_that_is_current_is_not_computed_again(api: Client, run: Json, figures: Json) -> None:
    before = api.get_run_analysis(run["id"])["id"]
    assert api.analyze_run(run["id"])["id"] == before


def test_targets_are_compared_by_a_job(api: Client, run: Json, comparison: Json) -> None:
    assert comparison["status"] == "COMPLETED"
    [row] = comparison["figures"]["rows"]
    assert (row["scenarios"], row["test"]) == (SCENARIOS, "PAIRED_T")
    assert row["operations"]["baseline"]["tokens"] > 0
    job = api.get_job(comparison["jobId"])
    assert (job["status"], job["resultId"]) == ("COMPLETED", comparison["id"])


def test_a_comparison_is_an_event_of_the_run(api: Client, run: Json, comparison: Json) -> None:
    events = [event for event in api.list_run_events(run["id"]) if event["type"] == "comparison.finished"]
    assert [event["data"]["comparisonId"] for event in events] == [comparison["id"]]


def test_changed_scenarios_are_listed(api: Client, comparison: Json) -> None:
    listed = list(api.list_comparison_scenarios(comparison["id"]))
    assert len(listed) == SCENARIOS
    differences = [abs(each["difference"]) for each in listed]
    assert differences == sorted(differences, reverse=True)
