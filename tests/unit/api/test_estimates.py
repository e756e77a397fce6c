"""Estimates of runs over HTTP."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.definitions import catalog
from cupel_core.domain.conversations.conversation import ConversationState, Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole, Usage
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.runs import estimates as estimate
from cupel_core.runs.history import _sampled
from cupel_core.store import blobs, object_names, run_items, runs, snapshots
from tests.added_scenarios import add_scenarios
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import ref_of
from tests.unit.api.client import Answer, Client

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PRICES = [{"model": "m", "inputUsdPerMillion": 1, "outputUsdPerMillion": 10}]


@pytest.fixture
def definition_id(client: Client) -> str:
    definition = catalog.create("acme", Labels(name="dilemma"), {"system": "s" * 368}, NOW)
    messages = (Message(MessageRole.USER, "u" * 368),)
    add_scenarios("acme", definition.head.id, [Scenario("", f"case {n}", messages) for n in range(4)])
    return definition.head.id


@pytest.fixture
def own_model(client: Client) -> str:
    client.put("/v1/providers/custom", {"baseUrl": "http://127.0.0.1:1/v1", "prices": PRICES})
    return "custom/m"


def estimated(client: Client, definition_id: str, token: str | None = None, **changes: Any) -> Answer:
    targets = {} if "targets" in changes else {"models": ["sim/steady"]}
    body = {"definitionId": definition_id, **targets, **changes}
    return client.post("/v1/runs/estimate", body, **({} if token is None else {"token": token}))


KEY = "provider openai has no API key: PUT /v1/providers/openai sets it"
ADDRESS = "provider custom has no baseUrl: PUT /v1/providers/custom sets it"


def missing_access(answer: Answer) -> dict[str, str]:
    assert answer.status == 200, answer.text
    return {each["provider"]: each["message"] for each in answer.json()["missingAccess"]}


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({}, {}),
        ({"models": ["openai/gpt-5-mini", "openai/gpt-5-nano"]}, {"openai": KEY}),
        ({"targets": [{"model": "custom/x", "label": "x"}]}, {"custom": ADDRESS}),
        ({"models": ["custom/x"], "config": {"judgeModel": "openai/gpt-5-mini"}}, {"openai": KEY, "custom": ADDRESS}),
    ],
)
def test_providers_that_are_not_set_up_are_named_by_estimates_and_refused_by_starts(
    client: Client, definition_id: str, changes: dict[str, Any], missing: dict[str, str]
) -> None:
    answer = estimated(client, definition_id, **changes)
    assert missing_access(answer) == missing
    assert (answer.json()["usd"]["expected"] > 0) is (missing == {"openai": KEY})
    targets = {} if "targets" in changes else {"models": ["sim/steady"]}
    body = {"definitionId": definition_id, **targets, **changes}
    assert client.post("/v1/runs", body).status == (422 if missing else 201)


def test_a_disabled_provider_and_an_unknown_one_are_refused_by_estimates(client: Client, definition_id: str) -> None:
    client.put("/v1/providers/openai", {"enabled": False})
    for model in ("openai/gpt-5-mini", "nobody/x"):
        assert estimated(client, definition_id, models=[model]).status == 422


def test_models_that_a_definition_names_need_no_key_for_an_estimate(client: Client) -> None:
    rubric = {"type": "llm-rubric", "value": "is polite", "provider": "openai/gpt-5-mini"}
    content = {"system": "Be brief.", "assertions": [rubric]}
    body = {"name": "x", "content": content, "scenarios": [{"prompt": "Hi"}]}
    answer = estimated(client, client.post("/v1/definitions", body).json()["id"])
    assert missing_access(answer) == {"openai": KEY}


def test_estimates_of_scale_runs_and_evals_need_no_key(client: Client, definition_id: str) -> None:
    scale_run = {"models": ["openai/gpt-5-mini"], "userMessage": "Hi", "count": 2}
    assert missing_access(client.post("/v1/scale-runs/estimate", scale_run)) == {"openai": KEY}
    assert client.post("/v1/scale-runs", scale_run).status == 422
    scenarios = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"]
    body = {"name": "e", "model": "openai/gpt-5-mini", "scenarioIds": [each["id"] for each in scenarios]}
    eval_id = client.post("/v1/evals", body).json()["id"]
    assert missing_access(client.post(f"/v1/evals/{eval_id}/runs/estimate", {})) == {"openai": KEY}


def report_models(figures: dict[str, Any]) -> list[tuple[str, bool]]:
    """With whether they cost anything."""
    return [(each["model"], each["usd"]["expected"] > 0) for each in figures["graders"] if each["role"] == "report"]


def test_a_report_is_priced_with_the_model_that_writes_it(client: Client, definition_id: str, own_model: str) -> None:
    judged = {"judgeModel": "sim/bold"}
    assert report_models(estimated(client, definition_id, report=True, config=judged).json()) == [("sim/bold", False)]
    named = {**judged, "summarizerModel": own_model}
    assert report_models(estimated(client, definition_id, report=True, config=named).json()) == [(own_model, True)]
    assert report_models(estimated(client, definition_id, config=named).json()) == []
    client.put("/v1/settings", {"summarizerModel": own_model})
    assert report_models(estimated(client, definition_id, report=True, config=judged).json()) == [(own_model, True)]
    assert report_models(estimated(client, definition_id, report=True).json()) == [(own_model, True)]
    without = {**judged, "summarizerModel": None}
    assert report_models(estimated(client, definition_id, report=True, config=without).json()) == [("sim/bold", False)]
    scale_run = {"models": ["sim/steady"], "userMessage": "Hi", "count": 2, "judgeModel": "sim/bold"}
    assert report_models(client.post("/v1/scale-runs/estimate", scale_run).json()) == [(own_model, True)]
    scale_run["summarizerModel"] = "sim/steady"
    assert report_models(client.post("/v1/scale-runs/estimate", scale_run).json()) == [("sim/steady", False)]


def test_an_unknown_summarizer_is_named(client: Client, definition_id: str) -> None:
    refused = estimated(client, definition_id, config={"summarizerModel": "nobody/x"})
    assert (refused.status, refused.fields()) == (422, ["config.summarizerModel"])
    scale_run = {"models": ["sim/steady"], "userMessage": "Hi", "count": 2, "summarizerModel": "openai/gpt-5-mini"}
    refused = client.post("/v1/scale-runs", scale_run)
    assert (refused.status, refused.fields()) == (422, ["summarizerModel"])


def test_a_default_summarizer_matters_to_runs_with_a_report_only(client: Client, definition_id: str) -> None:
    client.put("/v1/settings", {"summarizerModel": "openai/gpt-5-mini"})
    assert missing_access(estimated(client, definition_id)) == {}
    assert missing_access(estimated(client, definition_id, report=True)) == {"openai": KEY}
    refused = client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"], "report": True})
    assert (refused.status, refused.fields()) == (422, ["config.summarizerModel"])


def test_a_run_says_who_summarizes_it(client: Client, definition_id: str) -> None:
    body = {"definitionId": definition_id, "models": ["sim/steady"], "config": {"summarizerModel": "sim/bold"}}
    run = client.post("/v1/runs", body).json()["run"]
    assert client.get(f"/v1/runs/{run['id']}").json()["config"]["summarizerModel"] == "sim/bold"
    again = client.post(f"/v1/runs/{run['id']}/rerun").json()["run"]
    assert again["config"]["summarizerModel"] == "sim/bold"
    changed = client.post(f"/v1/runs/{run['id']}/rerun", {"config": {"summarizerModel": None}}).json()["run"]
    assert changed["config"]["summarizerModel"] is None


def test_the_estimate_has_the_workspaces_own_prices(client: Client, definition_id: str, own_model: str) -> None:
    answer = estimated(client, definition_id, models=[own_model], repeats=5)
    assert answer.status == 200, answer.text
    figures = answer.json()
    assert figures["jobCount"] == 20
    [target] = figures["targets"]
    assert (target["targetId"], target["probes"], target["basis"]) == (own_model, 20, "default")
    assert target["inputTokens"]["expected"] == 20 * 200
    assert target["usd"]["expected"] == pytest.approx(20 * (200 * 1 + 300 * 10) / 1e6)
    assert figures["usd"] == target["usd"]
    assert figures["usd"]["low"] < figures["usd"]["expected"] < figures["usd"]["high"]


def test_simulated_models_are_free(client: Client, definition_id: str) -> None:
    figures = estimated(client, definition_id).json()
    assert figures["usd"] == {"low": 0, "expected": 0, "high": 0}
    assert figures["unpriced"] == []


def test_unknown_prices_are_named(client: Client, definition_id: str, own_model: str) -> None:
    figures = estimated(client, definition_id, models=[own_model, "sim/steady", "custom/other"]).json()
    assert figures["unpriced"] == ["custom/other"]
    assert figures["targets"][2]["usd"] is None


def test_judges_and_simulated_users_are_estimated(client: Client, definition_id: str, own_model: str) -> None:
    scenario = Scenario("", "booking", (Message(MessageRole.USER, "Book."),), criteria=Criteria(success="Booked."))
    add_scenarios("acme", definition_id, [scenario])
    figures = estimated(client, definition_id, config={"judgeModel": own_model}).json()
    assert [(each["role"], each["model"]) for each in figures["graders"]] == [
        ("judge", own_model),
        ("persona", own_model),
    ]


def test_a_definitions_limit_of_tokens_bounds_the_answers(client: Client, definition_id: str, own_model: str) -> None:
    targets = [{"model": own_model, "params": {"maxOutputTokens": 10}}]
    body = {"definitionId": definition_id, "targets": targets}
    figures = client.post("/v1/runs/estimate", body).json()
    assert figures["targets"][0]["outputTokens"]["high"] == 4 * 10


@pytest.mark.parametrize(
    ("config", "guarantee", "unlimited"),
    [
        ({}, "calls_in_flight", True),
        ({"params": {"maxOutputTokens": 100}}, "never_exceeded", False),
    ],
)
def test_an_estimate_says_how_far_a_budget_can_be_exceeded(
    client: Client, definition_id: str, own_model: str, config: dict[str, Any], guarantee: str, unlimited: bool
) -> None:
    body = {"definitionId": definition_id, "models": [own_model], "maxBudgetUsd": 1_000, "config": config}
    budget = client.post("/v1/runs/estimate", body).json()["budget"]
    assert (budget["guarantee"], budget["unlimitedTargets"]) == (guarantee, [own_model] if unlimited else [])


def test_calls_without_a_price_are_not_limited(client: Client, definition_id: str, own_model: str) -> None:
    models = ["sim/steady", own_model.partition("/")[0] + "/unheard-of"]
    body = {"definitionId": definition_id, "models": models, "maxBudgetUsd": 5, "allowUnpriced": True}
    budget = client.post("/v1/runs/estimate", {**body, "config": {"params": {"maxOutputTokens": 9}}}).json()["budget"]
    assert budget["guarantee"] == "unpriced_calls"


def test_an_estimate_of_a_sample_says_what_an_expansion_costs(
    client: Client, definition_id: str, own_model: str
) -> None:
    """All four scenarios have the same text."""
    sampled = estimated(client, definition_id, models=[own_model], samplePercentage=25, repeats=3).json()
    everything = estimated(client, definition_id, models=[own_model], repeats=3).json()
    assert (sampled["jobCount"], sampled["expansion"]["jobCount"]) == (3, 9)
    together = sampled["usd"]["expected"] + sampled["expansion"]["usd"]["expected"]
    assert together == pytest.approx(everything["usd"]["expected"], abs=2e-6)
    assert everything["expansion"] is None


def test_nothing_is_started(client: Client, definition_id: str) -> None:
    estimated(client, definition_id)
    assert client.get("/v1/runs").json()["items"] == []


def test_what_a_start_refuses_is_refused(client: Client, definition_id: str) -> None:
    answer = estimated(client, definition_id, models=["nobody/x"])
    assert answer.status == 422
    assert answer.json()["errors"][0]["field"] == "models.0"


def test_viewers_may_estimate(client: Client, definition_id: str, viewer: str) -> None:
    assert estimated(client, definition_id, token=viewer).status == 200


def test_another_workspaces_definition_is_not_found(client: Client, definition_id: str, stranger: str) -> None:
    assert estimated(client, definition_id, token=stranger).status == 422


def test_a_large_definition_is_estimated_from_few_pages(
    client: Client, definition_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "MAX_CASES", 2)
    figures = estimated(client, definition_id).json()
    assert figures["targets"][0]["inputTokens"]["expected"] == 4 * 200


def test_a_run_of_an_eval_is_estimated(client: Client, definition_id: str) -> None:
    scenario_id = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"][0]["id"]
    body = {"name": "nightly", "scenarioIds": [scenario_id], "model": "sim/steady"}
    eval_id = client.post("/v1/evals", body).json()["id"]
    answer = client.post(f"/v1/evals/{eval_id}/runs/estimate", {"repeats": 3})
    assert (answer.status, answer.json()["jobCount"]) == (200, 3), answer.text


def completed_run(
    client: Client,
    definition_id: str,
    own_model: str,
    answer_tokens: int,
    scoring: Scoring | None = None,
    **changes: Any,
) -> Run:
    """A run of the definition whose conversations have answers of this length."""
    body = {"definitionId": definition_id, "models": [own_model], "repeats": 5, **changes}
    run = runs.get(RunRef("acme", client.post("/v1/runs", body).json()["run"]["id"]))
    held = [
        replace(conversation(index, own_model, answer_tokens + index), scoring=scoring)
        for index in range(run.plan.total)
    ]
    run = runs.transition(ref_of(run), Action.START, NOW)
    store_outcomes(run, run.fencing_token, held)
    for action in (Action.SUMMARIZE, Action.COMPLETE):
        run = runs.transition(ref_of(run), action, NOW)
    return run


def conversation(index: int, model: str, output_tokens: int) -> Transcript:
    messages = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "!"))
    usage = Usage(200, output_tokens)
    state = ConversationState(messages, turns=1, usage=usage, duration_ms=1, cost_usd=1.0, model_version="m")
    return Transcript(index, f"scn_{index}", model, NOW, state)


def test_who_summarizes_does_not_matter_to_conversations(client: Client, definition_id: str, own_model: str) -> None:
    completed_run(client, definition_id, own_model, answer_tokens=40)
    for config, basis in (({"summarizerModel": "sim/bold"}, "history"), ({"judgeModel": "sim/bold"}, "default")):
        assert estimated(client, definition_id, models=[own_model], config=config).json()["basis"] == basis


def test_conversations_of_an_earlier_run_replace_assumptions(
    client: Client, definition_id: str, own_model: str
) -> None:
    completed_run(client, definition_id, own_model, answer_tokens=40)
    figures = estimated(client, definition_id, models=[own_model], repeats=20).json()
    [target] = figures["targets"]
    assert (figures["basis"], target["basis"], target["samples"]) == ("history", "history", 20)
    assert target["outputTokens"]["expected"] == pytest.approx(80 * (40 + 9.5))
    # At the prices of today, not at those that the run has recorded.
    assert figures["usd"]["expected"] == pytest.approx(80 * (200 * 1 + 49.5 * 10) / 1e6)
    assert figures["usd"]["high"] > 2 * figures["usd"]["expected"]


def test_a_limit_of_tokens_bounds_what_unseen_conversations_cost(
    client: Client, definition_id: str, own_model: str
) -> None:
    """A seventh of all conversations may be unlike the twenty known ones, and cost 1.6 times more at most."""
    limit = {"config": {"params": {"maxOutputTokens": 100}}}
    completed_run(client, definition_id, own_model, answer_tokens=40, **limit)
    figures = estimated(client, definition_id, models=[own_model], repeats=20, **limit).json()
    assert figures["basis"] == "history"
    assert figures["usd"]["high"] < 1.3 * figures["usd"]["expected"]


def test_a_sample_of_few_scenarios_says_nothing_about_the_others(
    client: Client, definition_id: str, own_model: str
) -> None:
    completed_run(client, definition_id, own_model, answer_tokens=40, samplePercentage=50, sampleSeed=1)
    body: dict[str, Any] = {"models": [own_model], "sampleSeed": 1}
    assert estimated(client, definition_id, **body, samplePercentage=50).json()["basis"] == "history"
    assert estimated(client, definition_id, **body).json()["basis"] == "default"


def test_an_estimate_names_the_runs_that_it_rests_on(client: Client, definition_id: str, own_model: str) -> None:
    assert estimated(client, definition_id, models=[own_model]).json()["historyRunIds"] == []
    first = completed_run(client, definition_id, own_model, answer_tokens=40, repeats=2)
    second = completed_run(client, definition_id, own_model, answer_tokens=60, repeats=1)
    assert estimated(client, definition_id, models=[own_model]).json()["historyRunIds"] == [second.id, first.id]


def test_conversations_that_were_not_scored_say_nothing(client: Client, definition_id: str, own_model: str) -> None:
    cause = UnscoredCause(UnscoredCode.JUDGE_REPLY, "sim/bold")
    unscored = build_scoring(None, None, (AssertionResult.uncomputed("factuality", "no usable reply", cause),))
    completed_run(client, definition_id, own_model, answer_tokens=40, scoring=unscored)
    figures = estimated(client, definition_id, models=[own_model]).json()
    assert (figures["basis"], figures["historyRunIds"]) == ("default", [])


@pytest.mark.parametrize(
    "changes",
    [
        {"config": {"temperature": 0.5}},
        {"config": {"maxTurns": 3}},
        {"config": {"judgeModel": "sim/steady"}},
        {"models": ["sim/steady"]},
    ],
)
def test_a_run_that_is_not_alike_says_nothing(
    client: Client, definition_id: str, own_model: str, changes: dict[str, Any]
) -> None:
    completed_run(client, definition_id, own_model, answer_tokens=40)
    body = {"models": [own_model], **changes}
    assert estimated(client, definition_id, **body).json()["basis"] == "default"


def test_a_run_of_another_prompt_says_nothing(client: Client, definition_id: str, own_model: str) -> None:
    completed_run(client, definition_id, own_model, answer_tokens=40)
    trial = completed_run(client, definition_id, own_model, answer_tokens=1)
    run_items.to_item(replace(trial, revised_prompt="digest")).save()
    [target] = estimated(client, definition_id, models=[own_model], repeats=20).json()["targets"]
    assert (target["samples"], target["outputTokens"]["expected"]) == (20, pytest.approx(80 * (40 + 9.5)))


def test_a_run_of_a_revised_prompt_rests_on_itself_before_the_original(
    client: Client, definition_id: str, own_model: str
) -> None:
    trial = completed_run(client, definition_id, own_model, answer_tokens=1)
    run_items.to_item(replace(trial, revised_prompt="digest")).save()
    completed_run(client, definition_id, own_model, answer_tokens=40)
    repeated = client.post(f"/v1/runs/{trial.id}/rerun").json()
    [target] = repeated["estimate"]["targets"]
    assert (target["samples"], target["outputTokens"]["expected"]) == (20, pytest.approx(20 * (1 + 9.5)))


def test_conversations_of_small_runs_are_added_up(client: Client, definition_id: str, own_model: str) -> None:
    completed_run(client, definition_id, own_model, answer_tokens=40, repeats=2)
    assert estimated(client, definition_id, models=[own_model]).json()["basis"] == "default"
    completed_run(client, definition_id, own_model, answer_tokens=60, repeats=1)
    assert estimated(client, definition_id, models=[own_model]).json()["targets"][0]["samples"] == 12


def test_a_small_run_does_not_hide_the_one_before(client: Client, definition_id: str, own_model: str) -> None:
    completed_run(client, definition_id, own_model, answer_tokens=40)
    completed_run(client, definition_id, own_model, answer_tokens=40, repeats=1)
    assert estimated(client, definition_id, models=[own_model]).json()["targets"][0]["samples"] == 24


def test_a_new_version_of_the_definition_has_no_history(client: Client, definition_id: str, own_model: str) -> None:
    completed_run(client, definition_id, own_model, answer_tokens=40)
    add_scenarios("acme", definition_id, [Scenario("", "another", (Message(MessageRole.USER, "?"),))])
    figures = estimated(client, definition_id, models=[own_model]).json()
    assert figures["basis"] == "default"


def test_few_leaves_of_a_large_run_are_read() -> None:
    indexes = _sampled([range(50, 100_000)], 12)
    assert len({index // FANOUT for index in indexes}) == 12
    assert (len(indexes), len(set(indexes))) == (96, 96)


def test_a_start_says_what_the_estimate_says(client: Client, definition_id: str, own_model: str) -> None:
    expected = estimated(client, definition_id, models=[own_model], repeats=5).json()
    body = {"definitionId": definition_id, "models": [own_model], "repeats": 5}
    assert client.post("/v1/runs", body).json()["estimate"] == {**expected, "budget": None}


def test_a_repeated_start_is_answered_after_the_run_was_deleted(client: Client, definition_id: str) -> None:
    body, key = {"definitionId": definition_id, "models": ["sim/steady"]}, {"Idempotency-Key": "k"}
    first = client.post("/v1/runs", body, headers=key).json()
    assert client.post("/v1/runs", body, headers=key).json() == first
    assert client.delete(f"/v1/runs/{first['run']['id']}").status == 204
    blobs.delete_prefix(object_names.snapshot_blobs(RunRef("acme", first["run"]["id"])))  # As the sweeper does later.
    snapshots.get.cache_clear()
    repeated = client.post("/v1/runs", body, headers=key)
    assert (repeated.status, repeated.json()) == (201, {**first, "estimate": None})
