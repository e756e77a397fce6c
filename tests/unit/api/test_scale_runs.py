"""Scale runs over HTTP."""

from typing import Any

import pytest

from cupel_core.store import definitions
from tests.unit.api.client import Answer, Client

SCALE_RUN = {
    "models": ["sim/steady"],
    "systemPrompt": "Refunds are possible within 30 days.",
    "userMessage": "I want my money back.",
    "goal": "The agent explains the limit.",
    "count": 4,
}
JUDGED = {**SCALE_RUN, "judgeModel": "sim/bold"}


def started(client: Client, body: dict[str, Any], **headers: str) -> Answer:
    return client.post("/v1/scale-runs", body, headers=headers)


def run_of(client: Client, body: dict[str, Any]) -> dict[str, Any]:
    answer = started(client, body)
    assert answer.status == 201, answer.text
    run: dict[str, Any] = client.get(f"/v1/runs/{answer.json()['run']['id']}").json()
    return run


def refused(client: Client, **changes: Any) -> list[str]:
    answer = started(client, {name: value for name, value in {**SCALE_RUN, **changes}.items() if value is not None})
    assert answer.status == 422, answer.text
    return answer.fields()


def definition_count(client: Client) -> int:
    return len(client.get("/v1/definitions").json()["items"])


def test_a_scale_run_is_a_run_with_as_many_repeats(client: Client) -> None:
    run = run_of(client, JUDGED)
    assert (run["scale"], run["config"]["repeats"], run["progress"]["total"]) == (True, 4, 4)
    assert run["config"]["judgeModel"] == "sim/bold"
    assert run["config"]["evaluators"] == {
        "goal": "active",
        "refusal": "active",
        "format": "no_format",
        "toxicity": "active",
    }


@pytest.mark.parametrize(
    ("limits", "fields"),
    [
        ({"maxScaleRunCount": 3}, ["count"]),
        ({"maxScaleRunConcurrency": 2}, ["maxConcurrency"]),
        ({"maxScaleRunCount": 4, "maxScaleRunConcurrency": 3}, []),
    ],
)
def test_a_workspace_may_limit_scale_runs(client: Client, limits: dict[str, int], fields: list[str]) -> None:
    """A scale run has 3 conversations at the same time by default."""
    assert client.put("/v1/settings", limits).json().items() >= limits.items()
    answer = started(client, SCALE_RUN)
    assert (answer.status, answer.fields() if fields else []) == (422 if fields else 201, fields)
    assert definition_count(client) == (0 if fields else 1)


def test_a_scale_run_without_a_limit_of_its_own_exceeds_that_of_the_workspace(client: Client) -> None:
    client.put("/v1/settings", {"maxScaleRunConcurrency": 1_000})
    answer = started(client, {**SCALE_RUN, "maxConcurrency": None})
    assert (answer.status, answer.fields()) == (422, ["maxConcurrency"])
    client.put("/v1/settings", {"maxScaleRunConcurrency": None})
    assert started(client, {**SCALE_RUN, "maxConcurrency": None}).status == 201


@pytest.mark.parametrize("limit", [0, 1_001, 2.5, "3", True])
@pytest.mark.parametrize("name", ["maxScaleRunCount", "maxScaleRunConcurrency"])
def test_a_limit_of_scale_runs_is_a_whole_number_up_to_1000(client: Client, name: str, limit: object) -> None:
    answer = client.put("/v1/settings", {name: limit})
    assert (answer.status, answer.fields()) == (422, [name])


def test_default_evaluators_are_in_the_snapshot(client: Client) -> None:
    snapshot = run_of(client, JUDGED)["config"]["definitionSnapshot"]
    assert snapshot["system"] == SCALE_RUN["systemPrompt"]
    assert [(each["type"], each["default"]) for each in snapshot["assertions"]] == [
        ("not-is-refusal", True),
        ("llm-rubric", True),
    ]


def test_the_goal_is_the_success_criterion_and_the_users_aim(client: Client) -> None:
    run = run_of(client, JUDGED)
    [scenario] = client.get(f"/v1/definitions/{run['definitionId']}/scenarios").json()["items"]
    assert scenario["successCriteria"] == scenario["instructions"] == SCALE_RUN["goal"]
    assert scenario["messages"][0]["content"] == SCALE_RUN["userMessage"]


def test_without_a_judge_the_goal_is_named_as_not_evaluated(client: Client) -> None:
    run = run_of(client, SCALE_RUN)
    assert run["config"]["evaluators"]["goal"] == run["config"]["evaluators"]["toxicity"] == "no_judge"


def test_the_same_content_is_one_definition(client: Client) -> None:
    first, second = run_of(client, JUDGED), run_of(client, {**JUDGED, "count": 7, "models": ["sim/bold"]})
    assert first["definitionId"] == second["definitionId"]
    assert first["id"] != second["id"]
    other = run_of(client, {**JUDGED, "systemPrompt": "Be brief."})
    assert other["definitionId"] != first["definitionId"]
    assert definition_count(client) == 2


def test_two_requests_at_once_share_the_definition(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_of(client, JUDGED)
    asked = iter([None])
    find = definitions.find
    # The second request looks before the first one has written, and writes after it.
    monkeypatch.setattr(definitions, "find", lambda *given: next(asked, find(*given)))
    assert run_of(client, JUDGED)["definitionId"] == first["definitionId"]


def test_a_changed_definition_is_run_as_the_scale_run_describes_it(client: Client) -> None:
    first = run_of(client, JUDGED)
    client.patch(f"/v1/definitions/{first['definitionId']}", {"content": {"system": "Something else."}})
    second = run_of(client, JUDGED)
    assert second["config"]["definitionSnapshot"]["system"] == SCALE_RUN["systemPrompt"]


def test_a_deleted_definition_is_not_brought_back(client: Client) -> None:
    first = run_of(client, JUDGED)
    assert client.delete(f"/v1/definitions/{first['definitionId']}").status == 204
    second = run_of(client, JUDGED)
    assert second["definitionId"] != first["definitionId"]
    assert run_of(client, JUDGED)["definitionId"] == second["definitionId"]


def test_a_repeated_request_starts_one_run(client: Client) -> None:
    key = {"Idempotency-Key": "k"}
    first, second = started(client, JUDGED, **key), started(client, JUDGED, **key)
    assert first.json() == second.json()
    assert started(client, {**JUDGED, "count": 5}, **key).status == 422
    assert len(client.get("/v1/runs").json()["items"]) == 1


def test_evaluators_are_switched_off_and_set(client: Client) -> None:
    chosen = {"refusal": False, "toxicity": False, "goal": {"judgeModel": "sim/steady", "threshold": 0.8}}
    run = run_of(client, {**JUDGED, "evaluators": {**chosen, "external": {"url": "https://grader.example.com/eval"}}})
    assert run["config"]["judgeModel"] == "sim/steady"
    assert run["config"]["evaluatorUrl"] == "https://grader.example.com/eval"
    [rubric] = run["config"]["definitionSnapshot"]["assertions"]
    assert (rubric["metric"], rubric["threshold"], rubric["tag"]) == ("goal", 0.8, "GOAL_MISS")


def test_a_format_is_checked_by_assertions(client: Client) -> None:
    wanted = {"jsonSchema": {"type": "object"}, "xmlElements": [], "pattern": "^a", "minWords": 1, "maxWords": 2}
    run = run_of(client, {**SCALE_RUN, "format": wanted})
    checks = [each for each in run["config"]["definitionSnapshot"]["assertions"] if each["tag"] == "FORMAT_ERROR"]
    assert [each["type"] for each in checks] == ["is-json", "is-xml", "regex", "word-count"]


def test_personas_share_the_conversations(client: Client) -> None:
    ids = [client.post("/v1/personas", {"name": name}).json()["id"] for name in ("a", "b")]
    run = run_of(client, {**JUDGED, "personaIds": ids})
    assert (run["config"]["repeats"], run["progress"]["total"]) == (2, 4)
    answer = started(client, {**JUDGED, "personaIds": ids, "count": 5})
    assert (answer.status, answer.fields()) == (422, ["count"])
    assert "multiple of the 2 personas: 4 or 6" in answer.text


def test_without_a_message_the_simulated_user_begins(client: Client) -> None:
    run = run_of(client, {name: value for name, value in JUDGED.items() if name != "userMessage"})
    [scenario] = client.get(f"/v1/definitions/{run['definitionId']}/scenarios").json()["items"]
    assert scenario["messages"] == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"count": 1_001}, "count"),
        ({"count": 0}, "count"),
        ({"models": None}, "connectorId"),
        ({"userMessage": None}, "userMessage"),
        ({"models": ["unknown/x"]}, "models.0"),
        ({"connectorId": "con_x"}, "connectorId"),
        ({"models": None, "connectorId": "con_none"}, "connectorId"),
        ({"evaluators": {"goals": False}}, "evaluators.goals"),
        ({"format": {}}, "format"),
        ({"format": {"pattern": "(a+)+"}}, "format.pattern"),
        ({"format": {"minWords": 3, "maxWords": 2}}, "format"),
        ({"judgeModel": "nobody"}, "judgeModel"),
        ({"judgeModel": "openai/gpt-5-mini"}, "judgeModel"),
        ({"evaluators": {"goal": {"judgeModel": "openai/gpt-5-mini"}}}, "evaluators.goal.judgeModel"),
        ({"evaluators": {"toxicity": {"judgeModel": "openai/gpt-5-mini"}}}, "evaluators.toxicity.judgeModel"),
        ({"personaIds": ["per_unknown"]}, "personaIds.0"),
        ({"trial": True}, "trial"),
        ({"trial": True, "judgeModel": "sim/bold", "report": False}, "trial"),
        ({"trial": True, "judgeModel": "sim/bold", "systemPrompt": None}, "trial"),
        ({"budget": 3}, "budget"),
    ],
)
def test_what_cannot_run_is_refused_and_nothing_is_written(client: Client, changes: dict[str, Any], field: str) -> None:
    assert field in refused(client, **changes)
    assert definition_count(client) == 0


def test_a_scale_run_needs_a_message_or_a_goal(client: Client) -> None:
    answer = started(client, {name: value for name, value in SCALE_RUN.items() if name not in ("userMessage", "goal")})
    assert answer.json()["errors"] == [
        {"field": field, "message": "at least one of userMessage and goal must be given"}
        for field in ("userMessage", "goal")
    ]


def test_an_estimate_writes_nothing(client: Client) -> None:
    answer = client.post("/v1/scale-runs/estimate", JUDGED)
    assert (answer.status, answer.json()["jobCount"]) == (200, 4)
    assert definition_count(client) == 0


def test_a_scale_run_may_ask_for_the_trial_of_its_revised_prompt(client: Client) -> None:
    run = run_of(client, {**JUDGED, "trial": True})
    assert (run["report"], run["trial"]) == (True, True)
    again = client.post(f"/v1/runs/{run['id']}/rerun").json()["run"]
    assert again["trial"] is True
    assert run_of(client, JUDGED)["trial"] is False


def test_a_rerun_repeats_the_evaluators(client: Client) -> None:
    run = run_of(client, JUDGED)
    again = client.post(f"/v1/runs/{run['id']}/rerun").json()["run"]
    assert (again["scale"], again["config"]["evaluators"]) == (True, run["config"]["evaluators"])


def test_viewers_may_only_estimate(client: Client, viewer: str) -> None:
    assert client.post("/v1/scale-runs", SCALE_RUN, token=viewer).status == 403
    assert client.post("/v1/scale-runs/estimate", SCALE_RUN, token=viewer).status == 200


def test_three_conversations_at_a_time_with_gaps_between_their_starts(client: Client) -> None:
    config = run_of(client, SCALE_RUN)["config"]
    assert (config["maxConcurrency"], config["staggerMs"]) == (3, [200, 400])


def test_the_pace_of_a_scale_run_can_be_chosen(client: Client) -> None:
    config = run_of(client, {**SCALE_RUN, "maxConcurrency": 5, "staggerMs": [0, 100]})["config"]
    assert (config["maxConcurrency"], config["staggerMs"]) == (5, [0, 100])
    unlimited = run_of(client, {**SCALE_RUN, "maxConcurrency": None, "staggerMs": None})["config"]
    assert (unlimited["maxConcurrency"], unlimited["staggerMs"]) == (None, None)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"maxConcurrency": 0}, "maxConcurrency"),
        ({"maxConcurrency": 1_001}, "maxConcurrency"),
        ({"maxConcurrency": "3"}, "maxConcurrency"),
        ({"staggerMs": [400, 200]}, "staggerMs"),
        ({"staggerMs": [200]}, "staggerMs.1"),
        ({"staggerMs": [0, 10_001]}, "staggerMs.1"),
    ],
)
def test_a_pace_is_bounded(client: Client, changes: dict[str, Any], field: str) -> None:
    assert refused(client, **changes) == [field]


def test_an_estimate_knows_the_pace(client: Client) -> None:
    def seconds(**changes: Any) -> float:
        answer = client.post("/v1/scale-runs/estimate", {**SCALE_RUN, "count": 20, **changes})
        return float(answer.json()["seconds"]["expected"])

    assert seconds() > 2 * seconds(maxConcurrency=None, staggerMs=None)


def test_a_rerun_has_the_pace_of_the_run(client: Client) -> None:
    run = run_of(client, {**SCALE_RUN, "maxConcurrency": 2})
    again = client.post(f"/v1/runs/{run['id']}/rerun", {"config": {"staggerMs": None}}).json()["run"]["config"]
    assert (again["maxConcurrency"], again["staggerMs"]) == (2, None)
