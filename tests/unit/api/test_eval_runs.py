"""Runs of evals, the playground, probes across runs, and the judge on its own, over the API."""

import json
from typing import Any

import pytest

from cupel_core.base.clock import to_iso
from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.domain.runs.barrier import leaf_of
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.identifiers import thread_id
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.interfaces.http import operations as bounds
from cupel_core.runs import probe_search
from cupel_core.store import barrier, checkpoints, executions, runs
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW, dispatch_and_probe
from tests.unit.api.client import Answer, Client

JUDGE = {"judgeModel": "sim/bold"}
CRITERIA = {"successCriteria": "The table is booked.", "instructions": "wants a table for two"}


@pytest.fixture(autouse=True)
def finishing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Moto runs no state machine's functions."""
    begun: list[str] = []
    monkeypatch.setattr(executions, "start_finish", lambda ref, _: begun.append(ref.run_id))
    return begun


def post(client: Client, path: str, body: Any = None, **options: Any) -> dict[str, Any]:
    answer = client.post(path, body, **options)
    assert answer.status in (200, 201), answer.text
    return dict(answer.json())


@pytest.fixture
def personas(client: Client) -> list[str]:
    return [post(client, "/v1/personas", {"name": name})["id"] for name in ("Ada", "Bob", "Cleo")]


@pytest.fixture
def scenario_ids(client: Client, personas: list[str]) -> list[str]:
    """The first is played by three personas, the second by one, the third by nobody in particular."""
    definition = post(client, "/v1/definitions", {"name": "tables", "content": {"system": "Be kind."}})
    items = [
        {"prompt": "A table, please.", "personaIds": personas, **CRITERIA},
        {"prompt": "Two seats?", "personaIds": personas[:1]},
        {"prompt": "Are you open?"},
    ]
    added = post(client, f"/v1/definitions/{definition['id']}/scenarios", {"items": items})
    return list(added["ids"])


@pytest.fixture
def eval_id(client: Client, scenario_ids: list[str]) -> str:
    body = {"name": "booking", "model": "sim/steady", "scenarioIds": scenario_ids, "judgeModel": "sim/bold"}
    return str(post(client, "/v1/evals", body)["id"])


def run_eval(client: Client, eval_id: str, body: Any = None, **options: Any) -> dict[str, Any]:
    return post(client, f"/v1/evals/{eval_id}/runs", body, **options)


def probes(client: Client, **query: Any) -> list[dict[str, Any]]:
    return list(client.get("/v1/probes", query=query).json()["items"])


def ref_of(run: dict[str, Any]) -> RunRef:
    return RunRef("acme", run["id"])


def test_a_run_of_an_eval_is_its_scenarios_by_their_personas(client: Client, eval_id: str, personas: list[str]) -> None:
    started = run_eval(client, eval_id)
    assert started["jobCount"] == 5
    listed = client.get(f"/v1/runs/{started['run']['id']}/probes").json()["items"]
    assert [probe["personaId"] for probe in listed] == [*personas, personas[0], None]


def test_a_run_of_an_eval_carries_what_it_is_judged_with(client: Client, eval_id: str) -> None:
    run = run_eval(client, eval_id, {"config": {"personaModel": "sim/steady"}})["run"]
    assert (run["evalId"], run["config"]["judgeModel"], run["config"]["personaModel"]) == (
        eval_id,
        "sim/bold",
        "sim/steady",
    )


def test_every_start_of_an_eval_in_a_workspace_has_a_number_of_its_own(client: Client, eval_id: str) -> None:
    numbers = [run_eval(client, eval_id)["run"]["executionId"] for _ in range(3)]
    assert numbers == [1, 2, 3]


def test_one_idempotency_key_starts_an_eval_once(client: Client, eval_id: str) -> None:
    key = {"Idempotency-Key": "once"}
    first, second = (run_eval(client, eval_id, headers=key)["run"] for _ in range(2))
    assert (first["id"], first["executionId"]) == (second["id"], second["executionId"])


def test_a_run_of_an_eval_may_write_a_report(client: Client, eval_id: str) -> None:
    client.put("/v1/settings", {"judgeModel": "sim/bold"})
    path = f"/v1/evals/{eval_id}/runs"
    plain, asked = (post(client, path, {"report": report})["run"] for report in (False, True))
    assert (plain["report"], asked["report"]) == (False, True)
    again, without = (post(client, f"/v1/runs/{asked['id']}/rerun", body)["run"] for body in ({}, {"report": False}))
    assert (again["report"], without["report"]) == (True, False)
    schedule = {"name": "weekly", "expression": "rate(7 days)", "evalRun": {"evalId": eval_id, "report": True}}
    assert post(client, "/v1/schedules", schedule)["evalRun"]["report"]
    roles = {each["role"] for each in post(client, f"{path}/estimate", {"report": True})["graders"]}
    assert "report" in roles
    refused = client.post("/v1/playground/runs", {"report": True})
    assert (refused.status, "report" in refused.fields()) == (422, True)


def test_the_run_overrides_the_eval_and_the_eval_the_workspace(client: Client, scenario_ids: list[str]) -> None:
    client.put("/v1/settings", {"judgeModel": "sim/contrarian", "personaModel": "sim/bold"})
    made = post(client, "/v1/evals", {"name": "x", "model": "sim/steady", "scenarioIds": scenario_ids[:1]})
    config = run_eval(client, made["id"], {"config": {"personaModel": "sim/steady"}})["run"]["config"]
    assert (config["judgeModel"], config["personaModel"]) == ("sim/contrarian", "sim/steady")


def test_an_unusable_judge_is_refused_at_the_start(client: Client, eval_id: str) -> None:
    answer = client.post(f"/v1/evals/{eval_id}/runs", {"config": {"judgeModel": "openai/gpt-5-mini"}})
    assert (answer.status, answer.fields()) == (422, ["config.judgeModel"])


def test_null_in_a_run_means_no_evaluator_whatever_eval_and_workspace_set(
    client: Client, scenario_ids: list[str]
) -> None:
    evaluator = {"url": "https://evaluator.example.com/score", "headers": {"x-key": "secret"}}
    client.put("/v1/settings", {"evaluator": evaluator, "embeddingModel": "sim/embed"})
    body = {"name": "x", "model": "sim/steady", "scenarioIds": scenario_ids[1:], "judgeModel": "sim/bold"}
    made = post(client, "/v1/evals", body)
    off = {"judgeModel": None, "evaluatorUrl": None}
    started = run_eval(client, made["id"], {"config": off})["run"]
    assert [started["config"][name] for name in (*off, "embeddingModel")] == [None, None, "sim/embed"]
    assert runs.get(ref_of(started)).grader_config.evaluator_headers_version is None
    assert run_eval(client, made["id"])["run"]["config"]["evaluatorUrl"] == evaluator["url"]


def test_an_eval_whose_persona_is_gone_is_refused(client: Client, eval_id: str, personas: list[str]) -> None:
    assert client.delete(f"/v1/personas/{personas[1]}").status == 204
    answer = client.post(f"/v1/evals/{eval_id}/runs")
    assert (answer.status, answer.fields()) == (422, ["personaIds"])
    assert personas[1] in answer.text


def test_there_is_no_run_of_an_eval_that_is_not_there(client: Client, stranger: str, eval_id: str) -> None:
    assert client.post("/v1/evals/evl_none/runs").status == 404
    assert client.post(f"/v1/evals/{eval_id}/runs", token=stranger).status == 404


def completed_run(client: Client, eval_id: str) -> dict[str, Any]:
    """A run of the eval in which every probe has completed."""
    run = run_eval(client, eval_id)["run"]
    dispatch_and_probe(runs.get(ref_of(run)))
    return run


def test_conversations_are_judged_by_the_scenarios_criteria(client: Client, eval_id: str) -> None:
    run = completed_run(client, eval_id)
    first, *_, last = client.get(f"/v1/runs/{run['id']}/transcripts").json()["items"]
    assert isinstance(first["result"]["success"], bool)
    assert first["verdict"]["reasoning"]
    assert first["judgeSpend"]["calls"] >= 1
    assert first["turnCount"] == len([m for m in first["content"]["messages"] if m["role"] == "assistant"])
    assert (last["result"], last["verdict"], last["turnCount"]) == (None, None, 1)


def test_a_probe_has_its_conversation(client: Client, eval_id: str, personas: list[str]) -> None:
    run = completed_run(client, eval_id)
    probe = client.get(f"/v1/probes/{run['id']}-0").json()
    assert (probe["status"], probe["personaId"], probe["evalId"]) == ("COMPLETED", personas[0], eval_id)
    assert [message["role"] for message in probe["messages"][:3]] == ["system", "user", "assistant"]
    assert probe["latencyMs"] >= 0
    assert probe["threadId"] == thread_id(run["id"], 0, 1)


def test_a_probe_and_its_transcript_have_the_prompt_of_the_simulated_user(client: Client, personas: list[str]) -> None:
    definition = post(client, "/v1/definitions", {"name": "openings", "content": {"system": "Be kind."}})
    item = {"instructions": "wants a table for two", "personaIds": personas[:1]}
    scenario_ids = post(client, f"/v1/definitions/{definition['id']}/scenarios", {"items": [item]})["ids"]
    body = {"name": "openings", "model": "sim/steady", "scenarioIds": scenario_ids, "judgeModel": "sim/bold"}
    run = completed_run(client, post(client, "/v1/evals", body)["id"])
    prompt = client.get(f"/v1/probes/{run['id']}-0").json()["simulatedUserPrompt"]
    assert "wants a table for two" in prompt
    assert "Ada" in prompt
    assert client.get(f"/v1/transcripts/{run['id']}-0").json()["content"]["simulatedUserPrompt"] == prompt
    assert client.delete(f"/v1/probes/{run['id']}-0/content").status == 204
    assert client.get(f"/v1/probes/{run['id']}-0").json()["simulatedUserPrompt"] is None


def test_an_errored_probe_has_the_messages_until_the_error(client: Client, eval_id: str) -> None:
    ref = ref_of(run_eval(client, eval_id)["run"])
    run = runs.get(ref)
    said = (Message(MessageRole.USER, "A table?"), Message(MessageRole.ASSISTANT, "For when?"))
    checkpoints.save(ref, 0, 1, ConversationState(said, turns=1), NOW)
    store_outcomes(run, 1, [ProbeError(0, "scn", "sim/steady", ProbeErrorCode.JUDGE_ERROR, "nonsense", 2, NOW)])
    told = client.get(f"/v1/probes/{run.id}-0").json()
    assert (told["status"], told["error"]["code"]) == ("ERROR", "judge_error")
    assert [message["content"] for message in told["messages"]] == ["A table?", "For when?"]


def test_a_running_probe_has_the_messages_so_far(client: Client, eval_id: str) -> None:
    ref = ref_of(run_eval(client, eval_id)["run"])
    said = (Message(MessageRole.USER, "A table?"), Message(MessageRole.ASSISTANT, "For when?"))
    checkpoints.save(ref, 0, 1, ConversationState(said, turns=1), NOW)
    barrier.acquire(ref, leaf_of(0), "worker", Claim(frozenset({0}), 2e10, 0.0, {0: 1.0}), [0], 0.0)
    probe = client.get(f"/v1/probes/{ref.run_id}-0").json()
    assert probe["status"] == "RUNNING"
    assert [message["content"] for message in probe["messages"]] == ["A table?", "For when?"]


@pytest.mark.parametrize("path", ["probes", "runs/{}/probes"])
def test_a_claimed_probe_is_queued_until_its_first_call(client: Client, eval_id: str, path: str) -> None:
    ref = ref_of(run_eval(client, eval_id)["run"])
    barrier.acquire(ref, leaf_of(0), "worker", Claim(frozenset({0, 1}), 2e10, 1.0), [0, 1], 0.0)
    listed = client.get(f"/v1/{path.format(ref.run_id)}").json()["items"]
    assert {(probe["status"], probe["startedAt"]) for probe in listed} == {("QUEUED", None)}
    barrier.renew(ref, leaf_of(0), "worker", Claim(frozenset({0, 1}), 2e10, 1.0, {0: NOW.timestamp()}))
    listed = client.get(f"/v1/{path.format(ref.run_id)}").json()["items"]
    assert {probe["startedAt"] for probe in listed if probe["status"] == "RUNNING"} == {to_iso(NOW)}
    assert {probe["startedAt"] for probe in listed if probe["status"] == "QUEUED"} == {None}


def test_a_probe_has_its_times(client: Client, eval_id: str) -> None:
    run = completed_run(client, eval_id)
    probe = client.get(f"/v1/probes/{run['id']}-0").json()
    times = [probe[name] for name in ("createdAt", "startedAt", "completedAt")]
    assert times == sorted(times)
    assert probe["updatedAt"] == probe["completedAt"]


def test_a_scenarios_probes_are_also_those_in_runs_of_forks(client: Client, scenario_ids: list[str]) -> None:
    parent = client.get("/v1/definitions").json()["items"][0]["id"]
    fork = post(client, f"/v1/definitions/{parent}/fork", {"name": "fork"})["id"]
    run = post(client, "/v1/runs", {"definitionId": fork, "models": ["sim/steady"], "config": JUDGE})["run"]
    assert {probe["runId"] for probe in probes(client, scenarioId=scenario_ids[2])} == {run["id"]}


def test_a_retried_probe_has_another_thread() -> None:
    assert thread_id("run_1", 3, 1) != thread_id("run_1", 3, 2)
    assert thread_id("run_1", 3, 2) == thread_id("run_1", 3, 2)


def test_probes_are_listed_across_runs_oldest_first_or_newest_first(client: Client, eval_id: str) -> None:
    first, second = (run_eval(client, eval_id)["run"]["id"] for _ in range(2))
    expected = [f"{run}-{index}" for run in (first, second) for index in range(5)]
    assert [probe["id"] for probe in probes(client, evalId=eval_id, order="oldest")] == expected
    assert [probe["id"] for probe in probes(client, evalId=eval_id)] == expected[::-1]


@pytest.mark.parametrize("order", ["oldest", "newest"])
@pytest.mark.parametrize("limit", [1, 3, 4])
def test_the_pages_of_probes_are_the_complete_list(client: Client, eval_id: str, order: str, limit: int) -> None:
    for _ in range(2):
        run_eval(client, eval_id)
    whole = [probe["id"] for probe in probes(client, order=order)]
    found: list[str] = []
    query: dict[str, Any] = {"order": order, "limit": limit}
    while True:
        page = client.get("/v1/probes", query=query).json()
        found += [probe["id"] for probe in page["items"]]
        if page["nextCursor"] is None:
            break
        query["cursor"] = page["nextCursor"]
    assert found == whole


def test_a_page_that_finds_nothing_ends_early_with_a_cursor(
    client: Client, eval_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_eval(client, eval_id)
    completed_run(client, eval_id)
    monkeypatch.setattr(probe_search, "MAX_PROBES", 3)
    found: list[str] = []
    query: dict[str, Any] = {"status": "QUEUED"}
    pages = 0
    while pages == 0 or "cursor" in query:
        page = client.get("/v1/probes", query=query).json()
        found += [probe["id"] for probe in page["items"]]
        pages += 1
        query = {"status": "QUEUED"} | ({"cursor": page["nextCursor"]} if page["nextCursor"] else {})
    assert (len(found), len(set(found)), pages) == (5, 5, 4)


def test_long_conversations_make_short_pages(client: Client, eval_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = completed_run(client, eval_id)
    monkeypatch.setattr(bounds, "MAX_PAGE_BYTES", 8_000)
    for path, query in ((f"/v1/runs/{run['id']}/transcripts", {}), ("/v1/probes", {"evalId": eval_id})):
        ids, sizes, cursor = list[str](), list[int](), dict[str, str]()
        while not ids or cursor:
            page = client.get(path, query=query | cursor).json()
            ids += [item["id"] for item in page["items"]]
            sizes.append(len(page["items"]))
            cursor = {"cursor": page["nextCursor"]} if page["nextCursor"] else {}
        assert (len(ids), len(set(ids))) == (5, 5)
        assert len(sizes) > 1


def test_probes_are_found_by_scenario_persona_and_status(
    client: Client, eval_id: str, scenario_ids: list[str], personas: list[str]
) -> None:
    run_eval(client, eval_id)
    completed_run(client, eval_id)
    assert len(probes(client, scenarioId=scenario_ids[0])) == 6
    assert len(probes(client, personaId=personas[0])) == 4
    assert len(probes(client, personaId=personas[0], scenarioId=scenario_ids[1])) == 2
    assert len(probes(client, status="QUEUED")) == 5
    assert {probe["status"] for probe in probes(client, status="COMPLETED")} == {"COMPLETED"}
    assert probes(client, evalId="evl_none") == []


def test_the_playground_tries_one_scenario_without_an_eval(
    client: Client, scenario_ids: list[str], personas: list[str]
) -> None:
    body = {"scenarioId": scenario_ids[1], "model": "sim/steady", "personaId": personas[2]}
    started = post(client, "/v1/playground/runs", body)
    assert (started["jobCount"], started["run"]["playground"], started["run"]["evalId"]) == (1, True, None)
    assert probes(client)[0]["personaId"] == personas[2]


def test_the_playground_has_a_generic_user_unless_a_persona_is_named(client: Client, scenario_ids: list[str]) -> None:
    post(client, "/v1/playground/runs", {"scenarioId": scenario_ids[1], "model": "sim/steady"})
    assert [probe["personaId"] for probe in probes(client)] == [None]


def test_criteria_without_a_judge_are_refused_at_start(client: Client, scenario_ids: list[str], eval_id: str) -> None:
    definition_id = client.get(f"/v1/evals/{eval_id}").json()["definitionId"]
    unjudged = post(client, "/v1/evals", {"name": "unjudged", "model": "sim/steady", "scenarioIds": scenario_ids})["id"]
    requests = {
        "/v1/playground/runs": {"scenarioId": scenario_ids[0], "model": "sim/steady"},
        "/v1/runs": {"definitionId": definition_id, "models": ["sim/steady"]},
        f"/v1/evals/{unjudged}/runs": {},
    }
    for path, body in requests.items():
        answer = client.post(path, body)
        assert (answer.status, answer.fields()) == (422, ["config.judgeModel"])
        assert "has success or failure criteria" in answer.text


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"scenarioId": "scn_none_000001", "model": "sim/steady"}, "scenarioId", "there is no scenario"),
        ({"connectorId": "con_none"}, "connectorId", "there is no connector con_none"),
        ({"model": "nobody/x"}, "model", "nobody"),
        ({"target": {"connectorId": "con_none", "label": "ours"}}, "target.connectorId", "there is no connector"),
        ({"target": {"model": "nobody/x", "params": {"temperature": 1}}}, "target.model", "nobody"),
        ({"model": "sim/steady", "personaId": "per_none"}, "personaId", "there is no persona per_none"),
    ],
)
def test_what_the_playground_misses_is_named(
    client: Client, scenario_ids: list[str], body: dict[str, Any], field: str, message: str
) -> None:
    answer = client.post("/v1/playground/runs", {"scenarioId": scenario_ids[0], **body})
    assert (answer.status, answer.fields()) == (422, [field])
    assert message in answer.text
    assert "a scenario of this run" not in answer.text


def test_the_playground_needs_a_scenario(client: Client) -> None:
    answer = client.post("/v1/playground/runs", {"model": "sim/steady"})
    assert (answer.status, answer.fields()) == (422, ["scenarioId"])


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ({"connectorId": "{connector}"}, "eval.connectorId"),
        ({"targets": [{"model": "sim/steady"}, {"connectorId": "{connector}"}]}, "eval.targets.1.connectorId"),
        ({"targets": [{"connectorId": "{connector}", "label": "ours"}]}, "eval.targets.0.connectorId"),
    ],
)
def test_what_an_eval_misses_is_named_as_the_evals(
    client: Client, scenario_ids: list[str], target: dict[str, Any], field: str
) -> None:
    agent = {"name": "ours", "type": "langgraph", "baseUrl": "https://agent.test/"}
    connector = post(client, "/v1/connectors", agent)["id"]
    target = json.loads(json.dumps(target).replace("{connector}", connector))
    stored = post(client, "/v1/evals", {"name": "of ours", "scenarioIds": scenario_ids, **JUDGE, **target})["id"]
    assert client.delete(f"/v1/connectors/{connector}").status == 204
    answer = client.post(f"/v1/evals/{stored}/runs")
    assert (answer.status, answer.fields()) == (422, [field])
    assert f"there is no connector {connector}" in answer.text


def test_a_run_names_its_agent_as_it_was_called_at_the_start(client: Client, scenario_ids: list[str]) -> None:
    connector = post(client, "/v1/connectors", {"name": "ours", "type": "langgraph", "baseUrl": "https://agent.test/"})
    targets = [
        {"connectorId": connector["id"]},
        {"connectorId": connector["id"], "label": "cold"},
        {"model": "sim/steady"},
    ]
    body = {"name": "of ours", "scenarioIds": scenario_ids, **JUDGE, "targets": targets}
    run = post(client, f"/v1/evals/{post(client, '/v1/evals', body)['id']}/runs", {})["run"]
    client.patch(f"/v1/connectors/{connector['id']}", {"name": "theirs"})
    shown = client.get(f"/v1/runs/{run['id']}").json()["config"]["targets"]
    assert [(each["id"], each["label"], each["agentName"]) for each in shown] == [
        (f"connector/{connector['id']}", None, "ours"),
        ("cold", "cold", "ours"),
        ("sim/steady", None, None),
    ]
    probes = client.get(f"/v1/runs/{run['id']}/probes").json()["items"]
    assert {each["label"] for each in probes} == {"connector/ours", "cold", None}
    again = client.post(f"/v1/runs/{run['id']}/rerun", {}).json()["run"]
    assert [each["agentName"] for each in again["config"]["targets"]] == ["theirs", "theirs", None]


def test_the_playground_has_one_target(client: Client, scenario_ids: list[str]) -> None:
    for targets in ({}, {"model": "sim/steady", "connectorId": "con_x"}):
        answer = client.post("/v1/playground/runs", {"scenarioId": scenario_ids[0], **targets})
        assert answer.status == 422
        assert "exactly one of target, connectorId and model" in answer.text


def correct(client: Client, probe_id: str, result: Any) -> Answer:
    return client.patch(f"/v1/probes/{probe_id}", {"result": result})


def test_a_result_may_be_corrected_and_the_correction_removed(client: Client, eval_id: str) -> None:
    run = completed_run(client, eval_id)
    before = client.get(f"/v1/probes/{run['id']}-0").json()["result"]
    corrected = correct(client, f"{run['id']}-0", {"success": not before["success"], "reason": "I was there"})
    assert corrected.json()["result"] == {"success": not before["success"], "score": None, "reason": "I was there"}
    assert client.get(f"/v1/transcripts/{run['id']}-0").json()["corrected"] is True
    assert correct(client, f"{run['id']}-0", None).json()["result"] == before


def test_deleting_content_keeps_the_result(client: Client, eval_id: str) -> None:
    run = completed_run(client, eval_id)
    before = client.get(f"/v1/probes/{run['id']}-0").json()["result"]
    for _ in range(2):
        assert client.delete(f"/v1/probes/{run['id']}-0/content").status == 204
    told = client.get(f"/v1/probes/{run['id']}-0").json()
    assert (told["messages"], told["result"]) == ([], {**before, "reason": None})
    assert client.get(f"/v1/transcripts/{run['id']}-0").json()["content"] is None


def test_a_probe_without_transcript_is_not_corrected(client: Client, eval_id: str) -> None:
    run = run_eval(client, eval_id)["run"]
    assert correct(client, f"{run['id']}-0", {"success": True}).status == 409
    assert client.delete(f"/v1/probes/{run['id']}-0/content").status == 409


@pytest.mark.parametrize("probe_id", ["nothing", "run_x-1", "{run}-5", "{run}-x", "{run}--1"])
def test_there_is_no_probe_beyond_a_run(client: Client, eval_id: str, probe_id: str) -> None:
    run = run_eval(client, eval_id)["run"]
    assert client.get(f"/v1/probes/{probe_id.format(run=run['id'])}").status == 404


def test_a_probe_of_another_workspace_is_not_there(client: Client, stranger: str, eval_id: str) -> None:
    run = run_eval(client, eval_id)["run"]
    assert client.get(f"/v1/probes/{run['id']}-0", token=stranger).status == 404
    assert client.get("/v1/probes", token=stranger).json()["items"] == []


SAID = [{"role": "user", "content": "A table?"}, {"role": "assistant", "content": "Booked."}]


def test_a_conversation_is_judged_on_its_own(client: Client) -> None:
    body = {"messages": SAID, "successCriteria": "a table is booked", "model": "sim/steady"}
    verdict = post(client, "/v1/judge/criteria", body)
    assert isinstance(verdict["successMet"], bool)
    assert verdict["failureMet"] is False
    assert 0 <= verdict["confidence"] <= 1
    assert verdict["reasoning"]
    assert verdict["rawResponse"]
    assert verdict["spend"]["calls"] == 1


def test_a_users_next_message_is_written_on_its_own(client: Client, personas: list[str]) -> None:
    body = {"messages": SAID, "personaId": personas[0], "instructions": "wants two", "model": "sim/steady"}
    assert post(client, "/v1/judge/persona-message", body)["content"]
    described = {"messages": [], "persona": {"name": "Zoe"}, "model": "sim/steady"}
    assert post(client, "/v1/judge/persona-message", described)["content"]


def test_the_judge_defaults_to_the_workspaces(client: Client) -> None:
    body = {"messages": SAID, "failureCriteria": "it was rude"}
    assert client.post("/v1/judge/criteria", body).fields() == ["model"]
    client.put("/v1/settings", {"judgeModel": "sim/steady"})
    assert post(client, "/v1/judge/criteria", body)["successMet"] is False


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("criteria", {"messages": SAID, "model": "sim/steady"}),
        ("criteria", {"messages": [], "successCriteria": "x", "model": "sim/steady"}),
        ("criteria", {"messages": SAID, "successCriteria": "x", "model": "nobody/knows"}),
        ("persona-message", {"messages": SAID, "personaId": "per_x", "persona": {"name": "x"}}),
    ],
)
def test_an_invalid_judge_request_names_the_problem(client: Client, path: str, body: dict[str, Any]) -> None:
    assert client.post(f"/v1/judge/{path}", body).status == 422


def test_a_repeated_request_gets_its_run_although_the_eval_was_changed(client: Client, eval_id: str) -> None:
    key = {"Idempotency-Key": "key-1"}
    first = run_eval(client, eval_id, {"repeats": 2}, headers=key)
    assert client.patch(f"/v1/evals/{eval_id}", {"model": "sim/echo"}).status == 200
    assert run_eval(client, eval_id, {"repeats": 2}, headers=key) == first
    assert client.post(f"/v1/evals/{eval_id}/runs", {"repeats": 3}, headers=key).status == 422
