"""Tools that change something, and what they change."""

import pytest

from cupel_core.analysis import jobs
from cupel_core.analysis.lists import POLL_SECONDS, wait_for_job
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import JobRequest
from cupel_core.domain.access import AccessRole
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.store import audit_log
from tests.unit.mcpserver.cases import CONTENT, World, build, completed_run
from tests.unit.mcpserver.conftest import McpClient


@pytest.fixture
def world(client: McpClient) -> World:
    return build(client)


def test_content_is_validated_without_storing_it(client: McpClient) -> None:
    content = {**CONTENT, "template": "[stakes] [other]", "maxTurn": 3}
    unknown = client.use("validate_definition", {"content": content})
    assert (unknown["valid"], [each["field"] for each in unknown["errors"]]) == (False, ["content.maxTurn"])
    del content["maxTurn"]
    missing = client.use("validate_definition", {"content": content})
    assert (missing["valid"], [each["field"] for each in missing["errors"]]) == (False, ["content.template"])
    valid = client.use("validate_definition", {"content": CONTENT})
    assert valid == {"valid": True, "errors": [], "warnings": [], "scenarioCount": 2}
    assert "scenarioCount" not in client.use("validate_definition", {"content": {"system": "Be kind"}})
    assert client.use("list_definitions")["items"] == []


def test_a_definition_is_written_previewed_generated_and_forked(client: McpClient) -> None:
    made = client.use("create_definition", {"name": "d", "content": CONTENT, "tags": ["a", "b"]})
    definition_id = made["id"]
    changed = client.use(
        "update_definition",
        {"definition_id": definition_id, "content": {"system": "Be kind"}, "tags": ["b", "c"]},
    )
    assert (changed["version"], changed["tags"]) == (2, ["b", "c"])
    preview = client.use("generate_scenarios_preview", {"definition_id": definition_id, "max_scenarios": 1})
    assert preview["total"] == 2
    assert preview["scenarios"] == [{"name": "stakes: low", "dimensions": {"stakes": 1}, "prompt": "Rate it: low"}]
    generated = client.use("generate_scenarios", {"definition_id": definition_id, "mode": "matrix"})
    assert (generated["status"], generated["progress"]["total"]) == ("COMPLETED", 2)
    assert client.use("get_definition", {"definition_id": definition_id})["scenarioCount"] == 2
    fork = {"definition_id": definition_id, "name": "f", "content": {"system": "Be brief"}, "version_label": "v"}
    forked = client.use("fork_definition", fork)
    assert (forked["parentId"], forked["versionLabel"]) == (definition_id, "v")
    content = client.get(f"/v1/definitions/{forked['id']}").json()["content"]
    assert (content["system"], content["template"]) == ("Be brief", CONTENT["template"])


def test_a_generation_that_may_cost_needs_a_budget(client: McpClient) -> None:
    client.put("/v1/providers/sim", {"prices": [{"model": "bold", "inputUsdPerMillion": 1, "outputUsdPerMillion": 2}]})
    definition_id = client.use("create_definition", {"name": "d", "content": CONTENT})["id"]
    wanted = {"definition_id": definition_id, "mode": "llm"}
    assert client.use("generate_scenarios", {**wanted, "model": "sim/steady"})["status"] == "QUEUED"
    problem = client.problem("generate_scenarios", {**wanted, "model": "sim/bold"})
    assert (problem["status"], [each["field"] for each in problem["errors"]]) == (422, ["max_budget_usd"])
    without = client.problem("generate_scenarios", {**wanted, "mode": "matrix", "model": "sim/bold"})
    assert [each["field"] for each in without["errors"]] == ["model"]
    paid = client.use("generate_scenarios", {**wanted, "model": "sim/bold", "max_budget_usd": 2.0})
    assert paid["status"] == "QUEUED"


def test_invalid_content_names_its_fields(client: McpClient) -> None:
    problem = client.problem("create_definition", {"name": "d", "content": {"template": "[x]", "unknown": 1}})
    assert (problem["status"], [each["field"] for each in problem["errors"]]) == (422, ["content.unknown"])


def test_a_run_of_targets_with_parameters_says_what_is_left_of_its_budget(world: World) -> None:
    profile = world.client.post("/v1/profiles", {"name": "p", "operations": []}).json()["id"]
    targets = [
        {"model": "sim/steady", "label": "sober", "params": {"temperature": 0.0, "maxOutputTokens": 50}},
        {"model": "sim/steady", "label": "free"},
    ]
    arguments = {"definition_id": world.definition_id, "targets": targets, "max_budget_usd": 5.0}
    arguments["config"] = {"profileId": profile}
    assert world.client.use("estimate_run", arguments)["jobCount"] == 4
    started = world.client.use("start_run", {**arguments, "tags": ["t"], "report": True})
    found = world.client.use("get_run", {"run_id": started["run"]["id"]})
    assert [(each["label"], each["params"].get("maxOutputTokens")) for each in found["config"]["targets"]] == [
        ("sober", 50),
        ("free", None),
    ]
    assert (found["tags"], found["config"]["profileId"]) == (["t"], profile)
    assert found["spend"]["budget"].items() >= {"maxBudgetUsd": 5, "spentUsd": 0, "reservedUsd": 0}.items()
    both = world.client.problem("start_run", {**arguments, "models": ["sim/steady"]})
    assert both["status"] == 422
    agent = world.client.problem("start_run", {**arguments, "targets": [{"connectorId": "con_1", "label": "a"}]})
    assert agent["detail"] == "targets.0.connectorId: there is no connector con_1"
    wrong = world.client.problem("start_run", {**arguments, "targets": [{"modle": "sim/steady"}]})
    assert [each["field"] for each in wrong["errors"]] == ["targets.0.modle"]


def test_a_prompt_is_tried(client: McpClient) -> None:
    arguments = {
        "models": ["sim/steady", "sim/bold"],
        "system_prompt": "Be brief.",
        "user_message": "Rate it",
        "max_turns": 1,
        "max_output_tokens": 50,
        "evaluators": {"toxicity": False},
        "count": 1,
    }
    started = client.use("start_scale_run", arguments)
    run = client.get(f"/v1/runs/{started['run']['id']}").json()
    assert (started["jobCount"], run["scale"], run["config"]["maxTurns"]) == (2, True, 1)
    nothing = client.problem("start_scale_run", {"models": ["sim/steady"]})
    assert nothing["status"] == 422


def test_a_run_is_started_once_with_all_options(world: World) -> None:
    arguments = {
        "definition_id": world.definition_id,
        "models": ["sim/steady", "sim/bold"],
        "sample_seed": 2**40,
        "repeats": 2,
        "config": {"temperature": 0.5, "maxTurns": 3, "judgeModel": "sim/bold"},
        "max_budget_usd": 5.0,
        "name": "nightly",
        "idempotency_key": "k-1",
    }
    started, again = (world.client.use("start_run", arguments) for _ in range(2))
    assert (started["run"]["id"], started["jobCount"], started["run"]["status"]) == (again["run"]["id"], 8, "PENDING")
    run = world.client.get(f"/v1/runs/{started['run']['id']}").json()
    config = run["config"]
    assert (config["sampleSeed"], config["temperature"], config["maxTurns"]) == (2**40, 0.5, 3)
    assert (config["judgeModel"], run["name"], run["spend"]["budget"]["maxBudgetUsd"]) == ("sim/bold", "nightly", 5)
    assert run["startedBy"]["type"] == "token"
    planned = {name: arguments[name] for name in arguments.keys() - {"name", "idempotency_key"}}
    assert world.client.use("estimate_run", planned)["jobCount"] == 8


def test_an_argument_that_the_api_refuses_is_named_as_the_tool_has_it(world: World) -> None:
    arguments = {"definition_id": world.definition_id, "models": ["sim/steady"], "definition_version": 99}
    assert world.client.problem("start_run", arguments)["status"] in (404, 422)
    arguments = {"definition_id": world.definition_id, "models": ["nobody/x"], "max_budget_usd": 0.0}
    fields = [each["field"] for each in world.client.problem("start_run", arguments)["errors"]]
    assert "max_budget_usd" in fields


def test_a_run_is_controlled(world: World) -> None:
    arguments = {"run_id": world.started()}
    assert world.client.use("pause_run", arguments)["pauseReason"] == "user"
    assert world.client.use("resume_run", arguments)["status"] == "RUNNING"
    assert world.client.use("cancel_run", arguments)["status"] == "CANCELLED"
    assert world.client.problem("resume_run", arguments)["status"] == 409
    assert world.client.use("delete_run", arguments)["done"]
    assert world.client.problem("get_run", arguments)["status"] == 404


def test_errored_probes_are_retried(world: World) -> None:
    refused = world.client.problem("retry_run", {"run_id": world.run.id, "model": "sim/steady"})
    assert refused["status"] == 409
    retried = world.client.use("retry_run", {"run_id": world.run.id, "model": "sim/bold"})
    assert (retried["status"], retried["progress"]["completed"], retried["progress"]["failed"]) == ("RUNNING", 11, 1)


def test_a_run_is_graded_again_by_other_assertions(world: World, started_rescores: list[str]) -> None:
    assertions = [{"type": "contains", "value": "Rating"}]
    rescore = world.client.use("rescore_run", {"run_id": world.run.id, "assertions": assertions})
    assert started_rescores == [rescore["id"]]
    found = world.client.get(f"/v1/runs/{world.run.id}/rescores/{rescore['id']}").json()
    assert [each["type"] for each in found["config"]["assertions"]] == ["contains"]


def test_what_viewers_try_and_members_do_is_recorded(world: World, viewer: str) -> None:
    run_id = world.started()
    assert world.client.problem("pause_run", {"run_id": run_id}, token=viewer)["status"] == 403
    member = world.client.issue(role=AccessRole.MEMBER)
    world.client.use("pause_run", {"run_id": run_id}, token=member)
    made = world.client.use("create_definition", {"name": "d", "content": CONTENT}, token=member)
    records = audit_log.list_records("acme", 20, None, utc_now(), None, None).items
    assert {
        ("pauseRun", 403, f"/v1/runs/{run_id}/pause"),
        ("pauseRun", 200, f"/v1/runs/{run_id}/pause"),
        ("createDefinition", 201, f"/v1/definitions/{made['id']}"),
    } <= {(each.operation, each.status, each.path) for each in records}


def test_a_basic_analysis_is_returned_and_a_deep_one_is_a_job(world: World) -> None:
    basic = world.client.use("analyze_run", {"run_id": world.run.id})
    assert (basic["status"], "jobId" in basic) == ("COMPLETED", False)
    assert world.client.use("analyze_run", {"run_id": world.run.id})["analysisId"] == basic["analysisId"]
    deep = {"run_id": completed_run(world.definition_id).id, "kind": "deep", "wait_seconds": 0}
    job_id = world.client.use("analyze_run", deep)["jobId"]
    jobs.run_job(JobRequest(workspace="acme", job_id=job_id), 60)
    assert world.client.use("analyze_run", deep)["status"] == "COMPLETED"


def test_a_comparison_is_a_job_whose_result_is_returned(world: World) -> None:
    arguments = {
        "baseline_run_id": world.run.id,
        "comparison_run_id": completed_run(world.definition_id).id,
        "baseline_targets": ["sim/steady"],
        "comparison_targets": ["sim/steady"],
        "margin": 0.5,
        "wait_seconds": 0,
    }
    queued = world.client.use("compare_runs", arguments)
    assert (queued["status"], queued["rows"]) == ("QUEUED", [])
    jobs.run_job(JobRequest(workspace="acme", job_id=queued["jobId"]), 60)
    found = world.client.use("compare_runs", arguments)
    assert (found["comparisonId"], found["status"]) == (queued["comparisonId"], "COMPLETED")
    assert [each["targets"] for each in found["rows"]] == [["sim/steady"]]
    assert found["rows"][0]["sentence"]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def queued_job(world: World) -> str:
    arguments = {"run_id": completed_run(world.definition_id).id, "kind": "deep", "wait_seconds": 0}
    return str(world.client.use("analyze_run", arguments)["jobId"])


def test_a_job_is_waited_for_until_the_time_is_over(world: World) -> None:
    clock = Clock()
    job = wait_for_job("acme", queued_job(world), 3, sleep=clock.sleep, clock=clock)
    assert (job.status, clock.now) == (JobStatus.QUEUED, 103)


def test_a_job_that_ends_is_returned_at_once(world: World) -> None:
    clock, job_id = Clock(), queued_job(world)

    def work(seconds: float) -> None:
        clock.sleep(seconds)
        jobs.run_job(JobRequest(workspace="acme", job_id=job_id), 60)

    job = wait_for_job("acme", job_id, 20, sleep=work, clock=clock)
    assert (job.status, clock.now) == (JobStatus.COMPLETED, 100 + POLL_SECONDS)


def test_an_experiment_is_designed_and_concluded(world: World) -> None:
    body = {"name": "e", "hypothesis": "it helps", "direction": "HIGHER", "baseline_run_id": world.run.id}
    made = world.client.use("create_experiment", body)
    other = completed_run(world.definition_id).id
    world.client.use("add_run_to_experiment", {"experiment_id": made["id"], "run_id": other})
    found = world.client.use("get_experiment", {"experiment_id": made["id"]})["experiment"]
    assert (made["status"], found["status"]) == ("PLANNED", "RUNNING")
    conclusion = {"experiment_id": made["id"], "conclusion": "REJECTED", "note": "No difference."}
    concluded = world.client.use("update_experiment", conclusion)
    assert (concluded["status"], concluded["conclusion"], concluded["note"]) == (
        "CONCLUDED",
        "REJECTED",
        "No difference.",
    )


def test_limits_of_providers_are_set_but_never_keys(client: McpClient) -> None:
    limits = {"name": "openai", "max_parallel_requests": 7, "requests_per_minute": 100}
    changed = client.use("update_provider", limits)
    assert (changed["maxParallelRequests"], changed["requestsPerMinute"], changed["hasKey"]) == (7, 100, False)
    for secret in ({"api_key": "sk-1"}, {"apiKey": "sk-1"}, {"base_url": "https://evil.example"}):
        assert client.problem("update_provider", {"name": "openai", **secret})["status"] == 422
    assert client.use("update_settings", {"judge_model": "sim/steady"})["judgeModel"] == "sim/steady"
    assert client.use("update_settings", {"persona_model": "sim/bold"})["judgeModel"] == "sim/steady"


def test_queues_are_paused_and_resumed(client: McpClient) -> None:
    assert client.use("pause_queue", {"provider": "sim"})["queues"] == [{"provider": "sim", "paused": True}]
    assert not any(each["paused"] for each in client.use("resume_queue")["items"])


def test_all_queues_are_paused_by_a_word_only(client: McpClient) -> None:
    for name, arguments in (
        ("pause_queue", {}),
        ("call_operation", {"operation": "pauseQueues", "arguments": {}}),
    ):
        refused = client.problem(name, arguments)
        assert [each["field"] for each in refused["errors"]] == ["provider"]
    assert not any(each["paused"] for each in client.use("get_queue_status")["items"])
    assert all(each["paused"] for each in client.use("pause_queue", {"provider": "all"})["queues"])
