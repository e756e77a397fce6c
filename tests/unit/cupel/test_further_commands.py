"""Commands for forks, generated scenarios, events, corrections, workspaces, the audit log, and deletions of several."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.unit.cupel.fake_api import Cupel, FakeApi, column_fields

HEAD = {"id": "def_2", "name": "strict", "folder": None, "version": 1, "tags": [], "updatedAt": "2026-01-31T09:30:00Z"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fork.yaml"
    path.write_text("name: strict\ncontent: {system: Be strict.}\n")
    return path


def responds(api: FakeApi, body: Any, status: int = 200) -> None:
    api.refusals = [httpx.Response(status, json=body)]


def test_a_fork_overrides_what_its_file_has(api: FakeApi, cupel: Cupel, file: Path) -> None:
    responds(api, HEAD, 201)
    assert cupel("definitions", "fork", "def_1", str(file), "--version", "3", "--tag", "a").stdout == "def_2\n"
    expected = {"name": "strict", "content": {"system": "Be strict."}, "tags": ["a"], "version": 3}
    assert api.bodies("POST", "/definitions/def_1/fork") == [expected]


def test_a_fork_needs_no_file(api: FakeApi, cupel: Cupel) -> None:
    responds(api, HEAD, 201)
    assert cupel("definitions", "fork", "def_1").exit_code == 0
    assert api.bodies("POST", "/definitions/def_1/fork") == [{}]


def test_a_refused_field_of_a_fork_is_found_in_its_file(api: FakeApi, cupel: Cupel, file: Path) -> None:
    problem = {"title": "Invalid", "errors": [{"field": "content.system", "message": "must be shorter"}]}
    responds(api, problem, 422)
    assert f"{file}:2: content.system: must be shorter" in cupel("definitions", "fork", "def_1", str(file)).stderr


def test_a_fork_has_no_scenarios_of_its_own(cupel: Cupel, file: Path) -> None:
    file.write_text("scenarios: [{prompt: x}]")
    refused = cupel("definitions", "fork", "def_1", str(file))
    assert (refused.exit_code, "scenarios of its parent" in refused.stderr) == (2, True)


@pytest.mark.parametrize("relation", ["ancestors", "descendants"])
def test_relatives_are_listed(api: FakeApi, cupel: Cupel, relation: str) -> None:
    api.lists[f"definitions/def_1/{relation}"] = [HEAD]
    assert "def_2" in cupel("definitions", relation, "def_1").stdout


def test_generated_scenarios_are_waited_for(api: FakeApi, cupel: Cupel) -> None:
    progress = {"progress": {"completed": 6, "total": 6}, "seed": 17}
    api.scenarios["def_1"] = []
    api.generations = [{"status": "QUEUED"}, {"status": "COMPLETED", **progress}]
    options = ("--mode", "llm", "--model", "openai/x", "--seed", "17", "--replace", "--budget", "2.5")
    assert cupel("scenarios", "generate", "def_1", *options).stdout == "generated 6 scenarios for def_1, seed 17\n"
    request = {"mode": "llm", "options": "first", "seed": 17, "model": "openai/x", "replace": True}
    request["maxBudgetUsd"] = 2.5
    assert api.bodies("POST", "/definitions/def_1/scenarios/generate") == [request]


def test_events_are_listed_after_a_number(api: FakeApi, cupel: Cupel) -> None:
    event = {"type": "run.started", "ts": "2026-01-31T09:30:00Z", "runId": "run_1", "data": {"by": "token"}}
    api.lists["runs/run_1/events"] = [event | {"seq": 4}, event | {"seq": None, "type": "progress"}]
    shown = cupel("events", "run_1", "--after", "3").stdout
    assert ('{"by": "token"}' in shown, "progress" in shown) == (True, False)
    assert api.requests[0].url.params["after"] == "3"


@pytest.mark.parametrize(
    ("options", "result"),
    [
        (("--passed",), {"success": True}),
        (("--failed", "--score", "0.2", "--reason", "wrong"), {"success": False, "score": 0.2, "reason": "wrong"}),
        (("--restore",), None),
    ],
)
def test_results_are_corrected(api: FakeApi, cupel: Cupel, options: tuple[str, ...], result: Any) -> None:
    responds(api, {"id": "run_1-7", "result": result, "unscored": False})
    assert cupel("correct", "run_1-7", *options, "--json").exit_code == 0
    assert api.bodies("PATCH", "/probes/run_1-7") == [{"result": result}]


def test_the_corrected_result_is_printed(api: FakeApi, cupel: Cupel) -> None:
    responds(api, {"id": "run_1-7", "result": {"success": True, "reason": None}})
    assert cupel("correct", "run_1-7", "--passed").stdout == "run_1-7: passed\n"


@pytest.mark.parametrize("options", [(), ("--passed", "--restore"), ("--restore", "--score", "1"), ("--score", "1")])
def test_a_correction_is_a_result_or_none(api: FakeApi, cupel: Cupel, options: tuple[str, ...]) -> None:
    assert cupel("correct", "run_1-7", *options).exit_code == 2
    assert api.requests == []


def test_several_runs_are_deleted_with_one_request(api: FakeApi, cupel: Cupel) -> None:
    problem = {"status": 404, "title": "Not found", "detail": "there is no run run_2"}
    results = [
        {"id": "run_1", "deleted": True, "problem": None},
        {"id": "run_2", "deleted": False, "problem": problem},
    ]
    api.respond_to_posts = httpx.Response(200, json={"items": results})
    deleted = cupel("delete", "run_1", "run_2", "--yes")
    assert (deleted.exit_code, deleted.stdout) == (1, "deleted run_1\n")
    assert deleted.stderr == "run_2: 404 Not found: there is no run run_2\n"
    assert api.bodies("POST", "/runs/bulk-delete") == [{"ids": ["run_1", "run_2"]}]


def test_more_than_a_request_may_have_are_deleted_with_several(api: FakeApi, cupel: Cupel) -> None:
    api.respond_to_posts = httpx.Response(200, json={"items": []})
    assert cupel("delete", *(f"run_{n}" for n in range(101)), "--yes").exit_code == 0
    assert [len(body["ids"]) for body in api.bodies("POST", "/runs/bulk-delete")] == [100, 1]


def test_conversations_of_several_probes_are_deleted(api: FakeApi, cupel: Cupel) -> None:
    api.respond_to_posts = httpx.Response(200, json={"items": []})
    cupel("delete", "run_1", "--probe", "1", "--probe", "2", "--yes", "--json")
    assert api.bodies("POST", "/probes/bulk-delete-content") == [{"ids": ["run_1-1", "run_1-2"]}]
    assert cupel("delete", "run_1", "run_2", "--probe", "1", "--yes").exit_code == 2


def test_several_definitions_are_deleted(api: FakeApi, cupel: Cupel) -> None:
    api.respond_to_posts = httpx.Response(200, json={"items": []})
    cupel("definitions", "delete", "def_1", "def_2", "--yes")
    assert api.bodies("POST", "/definitions/bulk-delete") == [{"ids": ["def_1", "def_2"]}]


def test_a_definition_is_erased(api: FakeApi, cupel: Cupel) -> None:
    api.respond_to_posts = httpx.Response(204)
    assert "erasing def_1" in cupel("definitions", "erase", "def_1", "--yes").stdout
    assert api.requests[0].url.path == "/v1/definitions/def_1/erase"


def test_results_of_a_rescore_are_listed_by_probe(api: FakeApi, cupel: Cupel) -> None:
    result = {"probeIndex": 3, "scenarioId": "scn_1", **column_fields("openai/x"), "success": False, "score": 0.25}
    api.lists["runs/run_1/rescores/rsc_1/results"] = [result]
    line = cupel("scores", "run_1", "--rescore", "rsc_1", "--probes").stdout.splitlines()[1]
    assert line.split() == ["3", "scn_1", "openai/x", "failed", "0.25"]
    assert "needs --rescore" in cupel("scores", "run_1", "--probes").stderr


def test_an_operator_creates_a_workspace(api: FakeApi, cupel: Cupel) -> None:
    token = {"id": "tok_1", "role": "admin", "token": "cupel_secret"}
    api.respond_to_posts = httpx.Response(201, json={"name": "team-a", "token": token})
    assert cupel("workspaces", "create", "team-a").stdout == "cupel_secret\n"
    assert json.loads(cupel("workspaces", "create", "team-a", "--json").stdout)["name"] == "team-a"


def test_a_workspace_is_shown(api: FakeApi, cupel: Cupel) -> None:
    times = {"createdAt": "2026-01-31T09:30:00Z", "erasedAt": None, "erasureCompletedAt": None}
    responds(api, {"name": "team-a", **times})
    name, created, *erased = cupel("workspaces", "show", "team-a").stdout.splitlines()[1].split()
    assert (name, created[:10], erased) == ("team-a", "2026-01-31", ["–", "–"])


def test_the_audit_log_is_listed(api: FakeApi, cupel: Cupel) -> None:
    record = {"at": "2026-01-31T09:30:00Z", "tokenId": "tok_1", "userName": None, "role": "admin"}
    api.lists["audit"] = [record | {"operation": "createRun", "path": "/v1/runs/run_1", "status": 201}]
    shown = cupel("audit", "--token", "tok_1", "--operation", "createRun").stdout
    assert shown.splitlines()[1].split()[1:] == ["tok_1", "admin", "createRun", "/v1/runs/run_1", "201"]
    assert dict(api.requests[0].url.params)["tokenId"] == "tok_1"


@pytest.mark.parametrize(
    ("group", "path"),
    [
        ("personas", "/v1/personas/x_1"),
        ("connectors", "/v1/connectors/x_1"),
        ("evals", "/v1/evals/x_1"),
        ("profiles", "/v1/profiles/x_1"),
        ("files", "/v1/files/x_1"),
        ("experiments", "/v1/experiments/x_1"),
        ("schedules", "/v1/schedules/x_1"),
        ("chats", "/v1/chats/x_1"),
    ],
)
def test_every_kind_of_resource_is_deleted_by_its_id(api: FakeApi, cupel: Cupel, group: str, path: str) -> None:
    api.refusals = [httpx.Response(204)]
    answer = cupel(group, "delete", "x_1")
    assert [(each.method, each.url.path) for each in api.requests] == [("DELETE", path)]
    assert (answer.exit_code, answer.stdout) == (0, "deleted x_1\n")
