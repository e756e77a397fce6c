"""Targets with labels and parameters, and definitions with several prompts, over HTTP."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.store import runs
from tests.large_runs import counted_requests
from tests.recorded_outcomes import store_outcomes
from tests.unit.api.client import Answer, Client

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CREATIVE = {"model": "sim/steady", "label": "creative", "params": {"temperature": 1.2, "topP": 0.9}}
SOBER = {"model": "sim/steady", "label": "sober", "params": {"temperature": 0}}


@pytest.fixture
def definition_id(client: Client) -> str:
    """Two prompts, and two scenarios with variables."""
    content = {
        "system": "Be brief.",
        "prompts": [
            {"id": "plain", "template": "Capital of [country]?"},
            {"id": "polite", "label": "Polite", "template": "Please: [country]?", "params": {"maxOutputTokens": 9}},
        ],
        "params": {"seed": 7},
    }
    scenarios = [{"name": name, "metadata": {"vars": {"country": name}}} for name in ("France", "Italy")]
    made = client.post("/v1/definitions", {"name": "capitals", "content": content, "scenarios": scenarios})
    assert made.status == 201, made.text
    identity: str = made.json()["id"]
    return identity


def start(client: Client, definition_id: str, **body: Any) -> Answer:
    return client.post("/v1/runs", {"definitionId": definition_id, **body})


def errors(answer: Answer) -> dict[str, str]:
    assert answer.status == 422, answer.text
    return {error["field"]: error["message"] for error in answer.json()["errors"]}


def test_a_definition_returns_its_prompts(client: Client, definition_id: str) -> None:
    content = client.get(f"/v1/definitions/{definition_id}").json()["content"]
    assert [prompt["id"] for prompt in content["prompts"]] == ["plain", "polite"]
    assert content["prompts"][1]["params"] == {"maxOutputTokens": 9}
    assert content["params"] == {"seed": 7}


def test_a_run_covers_prompts_times_targets(client: Client, definition_id: str) -> None:
    started = start(client, definition_id, targets=[CREATIVE, SOBER], config={"params": {"stop": ["END"]}}).json()
    config = started["run"]["config"]
    assert started["jobCount"] == 2 * 2 * 2
    assert [target["id"] for target in config["targets"]] == ["creative", "sober"]
    assert (config["models"], config["promptIds"]) == (["sim/steady"], ["plain", "polite"])
    assert config["params"] == {"seed": 7, "stop": ["END"]}


def test_results_name_target_and_prompt(client: Client, definition_id: str) -> None:
    run_id = start(client, definition_id, targets=[CREATIVE, SOBER]).json()["run"]["id"]
    probe = client.get(f"/v1/runs/{run_id}/probes", query={"model": "sober", "promptId": "polite"}).json()["items"][0]
    assert (probe["index"], probe["targetId"], probe["promptId"]) == (6, "sober", "polite")
    assert (probe["label"], probe["modelId"], probe["connectorId"]) == ("sober", "sim/steady", None)


def test_a_model_that_is_no_target_is_refused_as_a_filter(client: Client, definition_id: str) -> None:
    run_id = start(client, definition_id, targets=[CREATIVE]).json()["run"]["id"]
    answer = client.get(f"/v1/runs/{run_id}/probes", query={"model": "sober"})
    assert errors(answer) == {"model": "must be one of the run's targets or models: creative, sim/steady"}
    answer = client.get(f"/v1/runs/{run_id}/transcripts", query={"promptId": "rude"})
    assert errors(answer) == {"promptId": "must be one of the run's prompts: plain, polite"}


def test_models_are_short_for_targets(client: Client, definition_id: str) -> None:
    config = start(client, definition_id, models=["sim/bold"]).json()["run"]["config"]
    assert [(target["id"], target["model"], target["params"]) for target in config["targets"]] == [
        ("sim/bold", "sim/bold", {})
    ]


@pytest.mark.parametrize("targets", [{}, {"models": ["sim/bold"], "targets": [SOBER]}])
def test_exactly_one_of_models_and_targets_is_required(
    client: Client, definition_id: str, targets: dict[str, Any]
) -> None:
    assert "exactly one of models and targets" in str(errors(start(client, definition_id, **targets)))


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ({"model": "sim/steady", "label": "creative"}, "targets.1.label"),
        ({"model": "sim/nobody", "label": "x"}, "targets.1.model"),
        ({"connectorId": "con_none", "label": "x"}, "targets.1.connectorId"),
        ({"model": "sim/steady", "label": "x", "callTimeoutSeconds": 900}, "targets.1.callTimeoutSeconds"),
        ({"model": "sim/steady", "label": "x", "params": {"topP": 2}}, "targets.1.params.topP"),
        (
            {"model": "sim/steady", "label": "x", "params": {"tools": [{"name": "a b"}]}},
            "targets.1.params.tools.0.name",
        ),
    ],
)
def test_an_invalid_target_is_named(client: Client, definition_id: str, target: dict[str, Any], field: str) -> None:
    assert field in errors(start(client, definition_id, targets=[CREATIVE, target]))


def test_a_parameter_that_the_provider_does_not_know_is_refused(client: Client, definition_id: str) -> None:
    assert client.put("/v1/providers/anthropic", {"apiKey": "sk-test"}).status == 200
    target = {"model": "anthropic/claude-haiku-4-5", "params": {"seed": 7}}
    message = errors(start(client, definition_id, targets=[target]))["targets.0.params.seed"]
    assert message.startswith("is no parameter of Anthropic; it takes keepReasoning, maxOutputTokens, ")


def test_only_own_servers_take_further_fields_of_a_body(client: Client, definition_id: str) -> None:
    extra = {"extraBody": {"chat_template_kwargs": {"enable_thinking": False}}}
    for provider in ("custom", "custom-gpu"):
        assert client.put(f"/v1/providers/{provider}", {"baseUrl": "https://gpu.example.com/v1"}).status == 200
        started = start(client, definition_id, targets=[{"model": f"{provider}/qwen", "params": extra}])
        assert started.json()["run"]["config"]["targets"][0]["params"] == extra
    message = errors(start(client, definition_id, targets=[{"model": "sim/steady", "params": extra}]))
    assert message["targets.0.params.extraBody"].startswith("is no parameter of Simulated models")
    own = {"model": "custom/qwen", "params": {"extraBody": {"min_p": 0.1, "messages": []}}}
    assert errors(start(client, definition_id, targets=[own])) == {
        "targets.0.params.extraBody": "must not have messages, which Cupel sets itself"
    }


def test_replies_of_judges_have_a_limit(client: Client, definition_id: str) -> None:
    config = {"judgeModel": "sim/steady", "judgeMaxOutputTokens": 900}
    run = start(client, definition_id, models=["sim/bold"], config=config).json()["run"]
    assert client.get(f"/v1/runs/{run['id']}").json()["config"]["judgeMaxOutputTokens"] == 900
    again = client.post(f"/v1/runs/{run['id']}/rerun", {"config": {"judgeMaxOutputTokens": None}}).json()["run"]
    assert again["config"]["judgeMaxOutputTokens"] is None
    config["judgeMaxOutputTokens"] = 0
    assert "config.judgeMaxOutputTokens" in errors(start(client, definition_id, models=["sim/bold"], config=config))


def test_a_default_applies_to_the_targets_that_know_it(client: Client, definition_id: str) -> None:
    assert client.put("/v1/providers/anthropic", {"apiKey": "sk-test"}).status == 200
    models = ["anthropic/claude-haiku-4-5", "sim/steady"]
    assert start(client, definition_id, models=models, config={"params": {"seed": 7}}).status == 201
    refused = start(client, definition_id, models=models[:1], config={"params": {"frequencyPenalty": 1}})
    assert "config.params.frequencyPenalty" in errors(refused)


def test_one_temperature_can_be_given(client: Client, definition_id: str) -> None:
    config = {"temperature": 0.5, "params": {"temperature": 0.7}}
    assert "at most one of temperature" in str(errors(start(client, definition_id, models=["sim/bold"], config=config)))
    started = start(client, definition_id, models=["sim/bold"], config={"temperature": 0.5}).json()
    assert started["run"]["config"]["params"] == {"seed": 7, "temperature": 0.5}
    assert started["run"]["config"]["temperature"] == 0.5


def test_too_many_columns_are_refused(client: Client, definition_id: str) -> None:
    targets = [{"model": "sim/steady", "label": f"variant {number}"} for number in range(100)]
    assert start(client, definition_id, targets=targets).status == 201
    prompts = [{"id": f"p{number}"} for number in range(3)]
    changed = client.patch(f"/v1/definitions/{definition_id}", {"content": {"prompts": prompts}})
    assert changed.status == 200, changed.text
    refused = start(client, definition_id, targets=targets)
    assert (refused.status, "300 columns" in refused.text) == (422, True)


def test_a_rerun_has_the_same_targets_and_parameters(client: Client, definition_id: str) -> None:
    run_id = start(client, definition_id, targets=[CREATIVE, SOBER], config={"params": {"seed": None}}).json()["run"][
        "id"
    ]
    again = client.post(f"/v1/runs/{run_id}/rerun", {}).json()["run"]["config"]
    first = client.get(f"/v1/runs/{run_id}").json()["config"]
    assert {name: again[name] for name in ("targets", "params", "promptIds")} == {
        name: first[name] for name in ("targets", "params", "promptIds")
    }
    other = client.post(f"/v1/runs/{run_id}/rerun", {"targets": [SOBER], "config": {"params": {"topP": 0.5}}}).json()
    assert other["jobCount"] == 4
    assert other["run"]["config"]["params"] == {"topP": 0.5}


def test_an_eval_keeps_its_targets_and_parameters(client: Client, definition_id: str) -> None:
    scenario_id = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"][0]["id"]
    body = {"name": "nightly", "scenarioIds": [scenario_id], "targets": [CREATIVE, SOBER], "params": {"stop": ["X"]}}
    made = client.post("/v1/evals", body)
    assert made.status == 201, made.text
    assert [target["id"] for target in made.json()["targets"]] == ["creative", "sober"]
    assert made.json()["model"] is None
    started = client.post(f"/v1/evals/{made.json()['id']}/runs", {"config": {"params": {"seed": None}}}).json()
    assert (started["jobCount"], started["run"]["config"]["params"]) == (4, {"stop": ["X"]})
    changed = client.patch(f"/v1/evals/{made.json()['id']}", {"model": "sim/bold"})
    assert [target["id"] for target in changed.json()["targets"]] == ["sim/bold"]


def test_a_playground_run_takes_a_target(client: Client, definition_id: str) -> None:
    scenario_id = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"][0]["id"]
    started = client.post("/v1/playground/runs", {"scenarioId": scenario_id, "target": CREATIVE})
    assert started.status == 201, started.text
    assert started.json()["run"]["config"]["targets"][0]["id"] == "creative"


def test_a_schedule_keeps_its_targets(client: Client, definition_id: str) -> None:
    run = {
        "definitionId": definition_id,
        "targets": [CREATIVE, SOBER],
        "config": {"maxAttempts": 2, "retryDelaySeconds": 3},
    }
    made = client.post("/v1/schedules", {"name": "nightly", "expression": "rate(1 day)", "run": run})
    assert made.status == 201, made.text
    scheduled = made.json()["run"]
    assert [target["label"] for target in scheduled["targets"]] == ["creative", "sober"]
    assert (scheduled["config"]["maxAttempts"], scheduled["config"]["retryDelaySeconds"]) == (2, 3)


@pytest.mark.parametrize(("seconds", "status"), [(0, 201), (1.5, 201), (60, 201), (61, 422), (-1, 422), ("2", 422)])
def test_a_run_sets_the_wait_before_the_second_attempt(
    client: Client, definition_id: str, seconds: object, status: int
) -> None:
    config = {"retryDelaySeconds": seconds}
    started = start(client, definition_id, targets=[SOBER], config=config)
    assert started.status == status, started.text
    scale_run = {"models": ["sim/steady"], "userMessage": "Hi", "count": 2, **config}
    assert client.post("/v1/scale-runs", scale_run).status == status
    if status == 201:
        run = started.json()["run"]
        again = client.post(f"/v1/runs/{run['id']}/rerun", {}).json()["run"]
        assert run["config"]["retryDelaySeconds"] == again["config"]["retryDelaySeconds"] == seconds


def answered(index: int, *, success: bool) -> Transcript:
    said = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "Rome"))
    scoring = Scoring(success, float(success), "as expected")
    return Transcript(index, f"scn_{index % 2}", "sim/steady", NOW, ConversationState(said, 1), scoring=scoring)


def test_scores_are_by_target_and_prompt(client: Client, definition_id: str) -> None:
    run_id = start(client, definition_id, targets=[CREATIVE, SOBER]).json()["run"]["id"]
    run = runs.get(RunRef("acme", run_id))
    store_outcomes(run, 1, [answered(index, success=index < 4) for index in range(run.plan.total)])
    models = client.get(f"/v1/runs/{run_id}/scores").json()["models"]
    assert [(each["targetId"], each["promptId"], each["mean"]) for each in models] == [
        ("creative", "plain", 1.0),
        ("creative", "polite", 1.0),
        ("sober", "plain", 0.0),
        ("sober", "polite", 0.0),
    ]
    rows = client.get(f"/v1/runs/{run_id}/scores/scenarios", query={"model": "sober", "promptId": "polite"}).json()[
        "items"
    ]
    assert [(row["scenarioName"], row["targetId"], row["promptId"]) for row in rows] == [
        ("France", "sober", "polite"),
        ("Italy", "sober", "polite"),
    ]


def test_a_million_probes_over_prompts_and_targets_start_with_as_many_requests_as_a_hundred(client: Client) -> None:
    """Ten prompts, ten targets, 100 scenarios and 100 repeats: a start stores axes, not probes."""
    dimensions = [{"name": name, "levels": [{"score": n, "label": f"{n}"} for n in range(10)]} for name in "ab"]
    prompts = [{"id": f"p{number}", "template": f"{number}: [a] or [b]?"} for number in range(10)]
    content = {"template": "[a] or [b]?", "dimensions": dimensions, "prompts": prompts}
    large = client.post("/v1/definitions", {"name": "large", "content": content}).json()["id"]
    assert client.post(f"/v1/definitions/{large}/scenarios/generate", {"mode": "matrix"}).status == 201
    asked = {"prompt": "?", "metadata": {"vars": {"a": "1", "b": "2"}}}
    small = client.post(
        "/v1/definitions", {"name": "small", "content": {"prompts": prompts}, "scenarios": [asked]}
    ).json()["id"]
    targets = [{"model": "sim/steady", "label": f"target {number}"} for number in range(10)]
    requests = []
    for definition_id, repeats, probes in ((small, 1, 100), (large, 100, 1_000_000)):
        with counted_requests() as sent:
            started = start(client, definition_id, targets=targets, repeats=repeats)
        assert started.json()["jobCount"] == probes
        requests.append(sorted(sent))
    assert requests[0] == requests[1]


TOOL = {"name": "find_order"}
FORCED = {"toolChoice": {"name": "find_order"}}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"targets": [{**SOBER, "params": FORCED}]}, "targets.0.params.toolChoice"),
        ({"targets": [SOBER], "config": {"params": {"toolChoice": "required"}}}, "config.params.toolChoice"),
        (
            {"targets": [SOBER, {**CREATIVE, "params": FORCED}], "config": {"params": {"tools": [{"name": "pay"}]}}},
            "targets.1.params.toolChoice",
        ),
        (
            {"targets": [{**SOBER, "params": {"tools": None}}], "config": {"params": {"tools": [TOOL], **FORCED}}},
            "config.params.toolChoice",
        ),
    ],
)
def test_a_forced_call_needs_its_tool(client: Client, definition_id: str, body: dict[str, Any], field: str) -> None:
    assert list(errors(start(client, definition_id, **body))) == [field]


@pytest.mark.parametrize(
    "body",
    [
        {"targets": [{**SOBER, "params": {"toolChoice": "auto"}}]},
        {"targets": [{**SOBER, "params": FORCED}], "config": {"params": {"tools": [TOOL]}}},
        {"targets": [{**SOBER, "params": {"toolChoice": None}}], "config": {"params": {"toolChoice": "required"}}},
    ],
)
def test_a_call_of_a_given_tool_may_be_forced(client: Client, definition_id: str, body: dict[str, Any]) -> None:
    assert start(client, definition_id, **body).status == 201


@pytest.mark.parametrize("choice", ["any", 7, {"name": "a b"}, {"type": "tool"}])
def test_an_unknown_tool_choice_is_one_error_that_names_the_choices(
    client: Client, definition_id: str, choice: object
) -> None:
    refused = start(client, definition_id, targets=[{**SOBER, "params": {"toolChoice": choice}}])
    expected = 'must be one of auto, none, required, or {"name": …} with the name of a tool'
    assert errors(refused) == {"targets.0.params.toolChoice": expected}


def test_a_target_without_anything_of_its_own_is_named_as_in_the_request(client: Client, definition_id: str) -> None:
    plain = {"model": "sim/steady"}
    refused = start(client, definition_id, targets=[{"model": "sim/bold", "label": "sim/steady"}, plain])
    assert errors(refused) == {"targets.1.label": "is a duplicate: targets need different labels"}
    assert list(errors(start(client, definition_id, targets=[CREATIVE, {"model": "sim/no"}]))) == ["targets.1.model"]
