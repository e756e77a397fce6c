"""Figures over several runs."""

from typing import Any

import pytest

from cupel_core.analysis import aggregation
from cupel_core.base.ids import new_id
from cupel_core.domain.runs.run import Run
from tests.unit.graphqlapi.conftest import GraphqlClient
from tests.unit.graphqlapi.test_queries import MODELS, completed_run

QUERY = """query ($input: AggregateInput!, $limit: Int = 100) { aggregate(input: $input, limit: $limit) {
  totalRows rows { runId model targetId promptId levels runs
    estimate { completed errored decision { mean answers scenarios interval95 }
      otherRate { trials scenarios } } } } }"""


@pytest.fixture
def runs(client: GraphqlClient) -> tuple[Run, Run]:
    """Of one definition, so with the same scenarios."""
    owner = new_id("def")
    return completed_run(owner), completed_run(owner)


def aggregated(client: GraphqlClient, *runs: Run, **body: Any) -> list[dict[str, Any]]:
    variables = {"input": {"runIds": [run.id for run in runs], **body}}
    return list(client.data(QUERY, variables)["aggregate"]["rows"])


def test_a_target_of_one_run_has_the_figures_of_its_analysis(client: GraphqlClient, runs: tuple[Run, Run]) -> None:
    run = runs[0]
    assert client.post(f"/v1/runs/{run.id}/analysis").status == 200
    columns = client.get(f"/v1/runs/{run.id}/analysis").json()["figures"]["columns"]
    rows = aggregated(client, run, groupBy=["target"])
    assert [each["targetId"] for each in rows] == [each["targetId"] for each in columns]
    for row, column in zip(rows, columns, strict=True):
        found, expected = row["estimate"], column["estimate"]
        assert {name: found[name] for name in ("completed", "errored")} == {
            name: expected[name] for name in ("completed", "errored")
        }
        assert found["decision"] == {name: expected["decision"][name] for name in found["decision"]}


def test_runs_are_added_up_unless_they_are_grouped(client: GraphqlClient, runs: tuple[Run, Run]) -> None:
    (all_,) = aggregated(client, *runs)
    assert (all_["runs"], all_["runId"], all_["levels"]) == (2, None, {})
    assert (all_["estimate"]["completed"], all_["estimate"]["errored"]) == (22, 2)
    by_run = aggregated(client, *runs, groupBy=["run", "model"])
    assert [(each["runId"], each["model"]) for each in by_run] == [(run.id, model) for run in runs for model in MODELS]
    assert sum(each["estimate"]["completed"] for each in by_run) == 22
    assert aggregated(client, runs[0], runs[0]) == aggregated(client, runs[0])


def test_what_runs_and_targets_made_of_a_scenario_is_one_unit(client: GraphqlClient, runs: tuple[Run, Run]) -> None:
    (both,), (one,) = aggregated(client, *runs), aggregated(client, runs[0])
    (other,) = aggregated(client, runs[0], completed_run())
    assert one["estimate"]["otherRate"] == {"trials": 11, "scenarios": 6}
    assert both["estimate"]["otherRate"] == {"trials": 22, "scenarios": 6}
    assert other["estimate"]["otherRate"] == {"trials": 22, "scenarios": 12}


def test_rows_by_level_are_in_order_and_add_up(client: GraphqlClient, runs: tuple[Run, Run]) -> None:
    rows = aggregated(client, *runs, dimensions=["stakes"])
    assert [each["levels"]["stakes"] for each in rows] == [1, 2, 3, 4, 5]
    assert sum(each["estimate"]["completed"] for each in rows) == 22
    (chosen,) = aggregated(client, *runs, levels={"stakes": 2})
    assert chosen["estimate"] == rows[1]["estimate"]


def test_targets_can_be_left_out(client: GraphqlClient, runs: tuple[Run, Run]) -> None:
    (bold,) = aggregated(client, *runs, target="sim/bold")
    assert (bold["estimate"]["completed"], bold["estimate"]["errored"]) == (10, 2)


def test_rows_beyond_the_limit_are_counted(client: GraphqlClient, runs: tuple[Run, Run]) -> None:
    variables = {"input": {"runIds": [runs[0].id], "dimensions": ["stakes"]}, "limit": 2}
    found = client.data(QUERY, variables)["aggregate"]
    assert (len(found["rows"]), found["totalRows"]) == (2, 5)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"runIds": []}, "input.runIds"),
        ({"runIds": ["run_1"] * 21}, "input.runIds"),
        ({"dimensions": ["stake"]}, "dimensions"),
        ({"levels": {"stake": 1}}, "levels"),
        ({"levels": {"stakes": "high"}}, "input.levels.stakes"),
        ({"levels": 3}, "input.levels"),
        ({"target": "sim/other"}, "target"),
        ({"promptId": "other"}, "promptId"),
    ],
)
def test_what_no_run_has_is_named(
    client: GraphqlClient, runs: tuple[Run, Run], body: dict[str, Any], field: str
) -> None:
    problem = client.error(QUERY, {"input": {"runIds": [runs[0].id], **body}})["extensions"]
    assert field in [each["field"] for each in problem["errors"]]


def test_runs_that_are_too_large_are_refused(
    client: GraphqlClient, runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregation, "MAX_CELLS", 23)
    assert aggregated(client, runs[0])
    problem = client.error(QUERY, {"input": {"runIds": [run.id for run in runs]}})["extensions"]
    assert [each["field"] for each in problem["errors"]] == ["runIds"]


def test_runs_of_another_workspace_and_running_ones_are_refused(
    client: GraphqlClient, runs: tuple[Run, Run], stranger: str
) -> None:
    variables = {"input": {"runIds": [runs[0].id]}}
    assert client.error(QUERY, variables, token=stranger)["extensions"]["code"] == "NOT_FOUND"
    body = {"name": "d", "content": {"template": "?"}, "scenarios": [{"prompt": "?"}]}
    owner = client.post("/v1/definitions", body).json()["id"]
    started = client.post("/v1/runs", {"definitionId": owner, "models": ["sim/steady"]}).json()["run"]["id"]
    assert client.error(QUERY, {"input": {"runIds": [started]}})["extensions"]["code"] == "CONFLICT"
