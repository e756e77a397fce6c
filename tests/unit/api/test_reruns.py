"""Repeating runs: a definition's earlier version, and reruns of a run; who started a run, and how large it is."""

from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.run import Action
from cupel_core.store import runs, snapshots
from tests.unit.api.client import Answer, Client


@pytest.fixture
def path(client: Client) -> str:
    """A definition with ten scenarios, at version 1."""
    made = client.post("/v1/definitions", {"name": "dilemma", "content": {"system": "Be brief."}})
    path: str = made.headers["Location"]
    client.post(f"{path}/scenarios", {"items": [{"prompt": f"prompt {number}"} for number in range(10)]})
    return path


def start(client: Client, path: str, **fields: Any) -> Answer:
    definition_id = path.rpartition("/")[2]
    return client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"], **fields})


def prompts(run_id: str) -> list[str]:
    """Of the run's cases, in order."""
    snapshot = snapshots.get(runs.get(RunRef("acme", run_id)).snapshot_key)
    return [snapshot.scenario(case).messages[0].content for case in range(len(snapshot.scenario_positions))]


def change_all(client: Client, path: str) -> None:
    for item in client.get(f"{path}/scenarios").json()["items"]:
        client.patch(f"{path}/scenarios/{item['id']}", {"prompt": "changed"})
    client.patch(path, {"content": {"system": "Be kind."}, "name": "renamed"})


def test_a_past_version_is_run_with_its_content_and_its_scenarios(client: Client, path: str) -> None:
    sampled = {"samplePercentage": 50, "sampleSeed": 7}
    first = start(client, path, **sampled).json()["run"]
    change_all(client, path)
    again = start(client, path, definitionVersion=1, **sampled).json()["run"]
    latest = start(client, path, **sampled).json()["run"]
    assert (again["definitionVersion"], latest["definitionVersion"]) == (1, 12)
    assert prompts(again["id"]) == prompts(first["id"])
    assert prompts(latest["id"]) == ["changed"] * 5
    snapshot = client.get(f"/v1/runs/{again['id']}").json()["config"]["definitionSnapshot"]
    assert snapshot["system"] == "Be brief."


def test_an_unknown_version_is_named(client: Client, path: str) -> None:
    answer = start(client, path, definitionVersion=9)
    assert (answer.status, answer.fields()) == (422, ["definitionVersion"])


def test_a_rerun_has_the_same_configuration_and_the_same_cases(client: Client, path: str) -> None:
    config = {"temperature": 0.5, "maxTurns": 3, "judgeModel": "sim/bold"}
    first = start(client, path, samplePercentage=30, sampleSeed=7, repeats=2, priority="HIGH", config=config).json()
    change_all(client, path)
    answer = client.post(f"/v1/runs/{first['run']['id']}/rerun")
    rerun = client.get(answer.headers["Location"]).json()
    original = client.get(f"/v1/runs/{first['run']['id']}").json()
    assert (answer.status, answer.json()["jobCount"], rerun["rerunOf"]) == (201, 6, original["id"])
    for name in ("config", "definitionVersion", "definitionName", "priority", "scenarioCount", "scenarioTotal"):
        assert rerun[name] == original[name]
    assert prompts(rerun["id"]) == prompts(original["id"])


def test_a_rerun_does_not_take_settings_that_were_set_since(client: Client, path: str) -> None:
    run_id = start(client, path).json()["run"]["id"]
    client.put("/v1/settings", {"judgeModel": "sim/bold"})
    assert client.post(f"/v1/runs/{run_id}/rerun").json()["run"]["config"]["judgeModel"] is None


def test_overrides_replace_the_models_and_single_settings(client: Client, path: str) -> None:
    config = {"temperature": 0.5, "judgeModel": "sim/bold"}
    run_id = start(client, path, config=config, repeats=2).json()["run"]["id"]
    overrides = {"models": ["sim/bold", "sim/steady"], "repeats": 1, "config": {"temperature": None, "maxTurns": 2}}
    run = client.post(f"/v1/runs/{run_id}/rerun", overrides).json()["run"]
    assert (run["config"]["models"], run["config"]["repeats"]) == (["sim/bold", "sim/steady"], 1)
    assert [run["config"][name] for name in ("temperature", "maxTurns", "judgeModel")] == [None, 2, "sim/bold"]


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"models": ["nobody/x"]}, "models.0"),
        ({"models": []}, "models"),
        ({"config": {"judgeModel": "nobody/x"}}, "config.judgeModel"),
        ({"samplePercentage": 5}, "samplePercentage"),
    ],
)
def test_overrides_are_checked_like_a_new_run(client: Client, path: str, overrides: dict[str, Any], field: str) -> None:
    run_id = start(client, path).json()["run"]["id"]
    answer = client.post(f"/v1/runs/{run_id}/rerun", overrides)
    assert (answer.status, answer.fields()) == (422, [field])


def test_a_rerun_is_started_once_per_key_and_by_members_only(client: Client, path: str, viewer: str) -> None:
    run_id = start(client, path).json()["run"]["id"]
    headers = {"Idempotency-Key": "again"}
    first, second = (client.post(f"/v1/runs/{run_id}/rerun", {}, headers=headers) for _ in range(2))
    assert first.json()["run"]["id"] == second.json()["run"]["id"]
    assert client.post(f"/v1/runs/{run_id}/rerun", {}, token=viewer).status == 403


def test_an_unknown_run_cannot_be_rerun(client: Client, path: str, stranger: str) -> None:
    run_id = start(client, path).json()["run"]["id"]
    assert client.post("/v1/runs/run_x/rerun").status == 404
    assert client.post(f"/v1/runs/{run_id}/rerun", token=stranger).status == 404


def test_an_eval_run_is_rerun_without_its_eval(client: Client, path: str) -> None:
    names = [item["id"] for item in client.get(f"{path}/scenarios").json()["items"]]
    body = {"name": "smoke", "scenarioIds": [names[4], names[2]], "model": "sim/steady"}
    eval_path = client.post("/v1/evals", body).headers["Location"]
    first = client.post(f"{eval_path}/runs").json()["run"]
    client.delete(f"{path}/scenarios/{names[4]}")
    refused = client.post(f"{eval_path}/runs")
    assert (refused.status, refused.fields()) == (422, ["eval.scenarioIds.0"])
    assert names[4] in refused.json()["detail"]
    client.delete(eval_path)
    rerun = client.post(f"/v1/runs/{first['id']}/rerun").json()["run"]
    assert (rerun["evalId"], rerun["executionId"]) == (first["evalId"], first["executionId"] + 1)
    assert prompts(rerun["id"]) == prompts(first["id"]) == ["prompt 2", "prompt 4"]


def test_a_list_of_runs_tells_names_counts_and_starters(client: Client, path: str) -> None:
    start(client, path, samplePercentage=30)
    (run,) = client.get("/v1/runs").json()["items"]
    assert (run["definitionName"], run["scenarioCount"], run["scenarioTotal"]) == ("dilemma", 3, 10)
    assert (run["startedBy"]["type"], run["startedBy"]["name"], run["durationMs"]) == ("token", "test", None)
    assert run["startedBy"]["id"].startswith("tok_")


def test_a_run_that_has_ended_has_a_duration(client: Client, path: str) -> None:
    ref = RunRef("acme", start(client, path).json()["run"]["id"])
    created = runs.get(ref).created_at
    runs.transition(ref, Action.START, created, started_at=created)
    runs.transition(ref, Action.CANCEL, created, completed_at=created.replace(year=created.year + 1))
    assert client.get(f"/v1/runs/{ref.run_id}").json()["durationMs"] == 365 * 86_400_000
