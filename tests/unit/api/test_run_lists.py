"""The rates of the runs in a list are those of their results."""

from typing import Any

import pytest

from cupel_core.analysis import run_rates
from cupel_core.analysis.workflow import analyze
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.run_rates import MAX_COLUMNS
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.runs.finishing import phases
from cupel_core.store import executions, runs
from tests.answered_runs import AnsweredRun
from tests.large_runs import counted_requests
from tests.started_runs import NOW, dispatch_and_probe, ref_of
from tests.unit.api.client import Client

SCENARIOS = tuple(Scenario("", f"case {number}", (Message(MessageRole.USER, "?"),)) for number in range(10))
COLUMN = ("targetId", "promptId", "promptLabel", "label", "modelId", "connectorId")


def answered(workspace: str = "acme", **fields: Any) -> AnsweredRun:
    """Half of ten scenarios by two targets. A probe of the first has no verdict, one of the second an error."""
    return AnsweredRun(
        **{"scenarios": SCENARIOS, "sample_percentage": 50, **fields},
        answer=lambda index: None if index == 7 else "An answer.",
        scoring=lambda index: None if index == 3 else Scoring(index % 3 > 0, 0.5, "why"),
        workspace=workspace,
    )


def finish(run: Run) -> Run:
    """Carry out the tasks of the finishing workflow, without summaries."""
    phases.settle(ref_of(run), run.fencing_token, NOW)
    analyze(ref_of(run), run.fencing_token, NOW)
    phases.complete(ref_of(run), run.fencing_token, NOW)
    return runs.get(ref_of(run))


def listed(client: Client, run: Run) -> dict[str, Any] | None:
    (rates,) = (each["rates"] for each in client.get("/v1/runs").json()["items"] if each["id"] == run.id)
    return dict(rates) if rates else None


def of_results(client: Client, run: Run) -> dict[str, Any]:
    """Return the same figures, as the results of the run have them."""
    columns = client.get(f"/v1/runs/{run.id}/results").json()["columns"]
    estimates = [each["estimate"] for each in columns]
    passed = sum(each["passRate"]["successes"] for each in estimates)
    judged = sum(each["passRate"]["trials"] for each in estimates)
    return {
        "passed": passed,
        "failed": judged - passed,
        "unscored": sum(each["completed"] for each in estimates) - judged,
        "errored": sum(each["errored"] for each in estimates),
        "columns": [column_of_results(each) for each in columns],
        "columnCount": len(columns),
    }


def column_of_results(column: dict[str, Any]) -> dict[str, Any]:
    rate = column["estimate"]["passRate"]
    figures = {"passed": rate["successes"], "judged": rate["trials"], "passRate": rate["share"]}
    return {name: column[name] for name in COLUMN} | figures | {"interval95": rate["interval95"]}


def outcomes_of(rates: dict[str, Any] | None) -> tuple[int, ...]:
    assert rates is not None
    return tuple(rates[name] for name in ("passed", "failed", "unscored", "errored"))


def test_a_list_has_the_rates_of_the_results_after_each_change(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executions, "start_finish", lambda *_: None)
    run = finish(answered().start())
    assert outcomes_of(listed(client, run)) == (5, 3, 1, 1)
    assert listed(client, run) == of_results(client, run)

    assert client.patch(f"/v1/probes/{run.id}-0", {"result": {"success": True}}).status == 200
    assert outcomes_of(listed(client, run)) == (6, 2, 1, 1)
    assert listed(client, run) == of_results(client, run)
    assert client.patch(f"/v1/probes/{run.id}-0", {"result": None}).status == 200
    assert outcomes_of(listed(client, run)) == (5, 3, 1, 1)

    assert client.post(f"/v1/runs/{run.id}/retry", {}).status == 200
    assert listed(client, run) is None
    dispatch_and_probe(runs.get(ref_of(run)))
    run = finish(runs.get(ref_of(run)))
    assert outcomes_of(listed(client, run)) == (5, 3, 2, 0)
    assert listed(client, run) == of_results(client, run)

    assert client.post(f"/v1/runs/{run.id}/expand", {"samplePercentage": 100}).status == 200
    assert listed(client, run) is None
    dispatch_and_probe(runs.get(ref_of(run)))
    run = finish(runs.get(ref_of(run)))
    assert outcomes_of(listed(client, run)) == (5, 3, 12, 0)
    assert listed(client, run) == of_results(client, run)


def test_a_run_that_goes_on_or_has_no_answer_has_no_rates(client: Client) -> None:
    going_on = answered().start()
    failed = AnsweredRun(answer=lambda _: None, workspace="acme").start()
    phases.settle(ref_of(failed), 1, NOW)
    assert listed(client, going_on) is None
    assert listed(client, failed) is None


def test_rates_of_a_cancelled_run_are_counted_when_it_is_listed(client: Client) -> None:
    run = runs.transition(ref_of(answered().start()), Action.CANCEL, NOW)
    assert listed(client, run) == of_results(client, run)


def test_rates_of_a_page_are_read_in_one_request(client: Client) -> None:
    for _ in range(3):
        finish(answered().start())
    client.get("/v1/runs")
    with counted_requests() as sent:
        client.get("/v1/runs")
    assert sent.count("BatchGetItem") == 1


def test_a_run_that_there_is_no_time_to_count_is_counted_by_the_next_request(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = answered().completed()
    with monkeypatch.context() as patch:
        patch.setattr(run_rates, "SECONDS_TO_COUNT", -1.0)
        assert listed(client, run) is None
    assert listed(client, run) == of_results(client, run)


def test_a_list_has_the_rates_of_the_first_columns(client: Client) -> None:
    prompts = tuple(f"prompt-{number}" for number in range(MAX_COLUMNS // 2 + 1))
    run = finish(answered(scenarios=SCENARIOS[:1], sample_percentage=100, prompt_ids=prompts).start())
    rates, whole = listed(client, run), of_results(client, run)
    assert rates == {**whole, "columns": whole["columns"][:MAX_COLUMNS]}
    assert rates["columnCount"] == MAX_COLUMNS + 2
