"""A run of simulated models, from its start to its results."""

from datetime import datetime
from itertools import count, pairwise
from typing import Any

import pytest

from cupel.client import Client
from cupel_core.domain.conversations.model_request import ModelRequest, SimulationKey
from cupel_core.domain.conversations.simulation import should_fail
from tests.eval_api import RATING, Json, create_definition, evaluate

MODELS = ("sim/steady", "sim/bold", "sim/contrarian", "sim/flaky")
SCENARIOS = 40
TRANSCRIPT_FIELDS = {
    *("id", "runId", "probeIndex", "scenarioId", "modelId", "modelVersion", "definitionSnapshot", "content"),
    *("turnCount", "tokenCount", "usage", "durationMs", "costUsd", "decisionCode", "decisionText", "summarizedAt"),
    *("result", "createdAt", "lastAccessedAt", "contentExpiresAt"),
}
MAY_BE_NULL = {
    *(
        "costUsd",
        "lastAccessedAt",
        "summaryCause",
        "summaryError",
        "result",
        "personaId",
        "personaName",
        "promptLabel",
        "verdict",
        "scoring",
    ),
    *("connectorId", "label", "promptId", "stopReason"),
}
"""These scenarios have neither a simulated user nor assertions, the targets no labels and no tools, and the definition
has no prompts."""


def failing_scenarios(scenario_ids: list[str], seed: int) -> set[str]:
    """Those that `sim/flaky` fails in a run with this seed."""
    requests = {each: ModelRequest((), simulation_key=SimulationKey(each, seed=seed)) for each in scenario_ids}
    return {each for each, request in requests.items() if should_fail("flaky", request)}


@pytest.fixture(scope="module")
def definition_id(api: Client) -> str:
    return create_definition(api, SCENARIOS)


@pytest.fixture(scope="module")
def seed_and_failing(api: Client, definition_id: str) -> tuple[int, set[str]]:
    """The first seed with which a scenario fails: the ids of scenarios are new in every session."""
    scenario_ids = [each["id"] for each in api.list_scenarios(definition_id)]
    return next((seed, failing) for seed in count() if (failing := failing_scenarios(scenario_ids, seed)))


@pytest.fixture(scope="module")
def run(api: Client, definition_id: str, seed_and_failing: tuple[int, set[str]]) -> Json:
    return evaluate(api, definition_id, *MODELS, sampleSeed=seed_and_failing[0])


@pytest.fixture(scope="module")
def transcripts(api: Client, run: Json) -> list[Json]:
    return list(api.list_transcripts(run["id"]))


@pytest.fixture(scope="module")
def errors(api: Client, run: Json) -> list[Json]:
    return list(api.list_run_probes(run["id"], status="ERROR"))


def test_the_run_completes(run: Json) -> None:
    assert (run["status"], run["failure"]) == ("COMPLETED", None)


def test_every_probe_has_one_outcome(run: Json, transcripts: list[Json], errors: list[Json]) -> None:
    indexes = [each["probeIndex"] for each in transcripts] + [each["index"] for each in errors]
    assert sorted(indexes) == list(range(SCENARIOS * len(MODELS)))


def test_progress_matches_transcripts_and_errors(run: Json, transcripts: list[Json], errors: list[Json]) -> None:
    expected = {"total": SCENARIOS * len(MODELS), "completed": len(transcripts), "failed": len(errors)}
    assert run["progress"] == expected


def test_every_model_answers_every_scenario(transcripts: list[Json], errors: list[Json]) -> None:
    pairs = {(each["modelId"], each["scenarioId"]) for each in (*transcripts, *errors)}
    assert len(pairs) == SCENARIOS * len(MODELS)


def test_a_transcript_has_all_its_fields(transcripts: list[Json]) -> None:
    assert {field for each in transcripts for field in TRANSCRIPT_FIELDS - set(each)} == set()


def test_required_fields_of_a_transcript_are_not_null(transcripts: list[Json]) -> None:
    assert {name for each in transcripts for name, value in each.items() if value is None} <= MAY_BE_NULL


def test_a_transcript_contains_the_conversation(transcripts: list[Json]) -> None:
    roles = {tuple(message["role"] for message in each["content"]["messages"]) for each in transcripts}
    assert roles == {("user", "assistant")}


def test_the_token_count_is_the_sum_of_the_usage(transcripts: list[Json]) -> None:
    assert all(each["tokenCount"] == sum(each["usage"].values()) > 0 for each in transcripts)


def test_the_decision_matches_the_reply(transcripts: list[Json]) -> None:
    ratings = [each["content"]["messages"][-1]["content"].rpartition("Rating: ")[2] for each in transcripts]
    assert [each["decisionCode"] for each in transcripts] == ratings


def test_a_transcript_has_a_snapshot_of_the_definition(transcripts: list[Json]) -> None:
    assert all(
        each["definitionSnapshot"]["decision"]["pattern"] == RATING["decision"]["pattern"] for each in transcripts
    )


def test_a_single_transcript_equals_the_listed_one(api: Client, transcripts: list[Json]) -> None:
    single = api.get_transcript(transcripts[0]["id"])
    assert single | {"lastAccessedAt": None} == transcripts[0] | {"lastAccessedAt": None}


def test_transcripts_are_filtered_by_model(api: Client, run: Json, transcripts: list[Json]) -> None:
    bold = [each["id"] for each in transcripts if each["modelId"] == "sim/bold"]
    assert [each["id"] for each in api.list_transcripts(run["id"], model="sim/bold")] == bold


def test_transcripts_are_filtered_by_scenario(api: Client, run: Json, transcripts: list[Json]) -> None:
    scenario_id = transcripts[0]["scenarioId"]
    expected = [each["id"] for each in transcripts if each["scenarioId"] == scenario_id]
    assert [each["id"] for each in api.list_transcripts(run["id"], scenario_id=scenario_id)] == expected


def test_only_the_flaky_model_has_errors(seed_and_failing: tuple[int, set[str]], errors: list[Json]) -> None:
    failing = seed_and_failing[1]
    assert {(each["modelId"], each["scenarioId"]) for each in errors} == {("sim/flaky", each) for each in failing}


def test_an_errored_probe_has_code_and_attempts(errors: list[Json]) -> None:
    assert {(each["error"]["code"], each["error"]["attempts"]) for each in errors} == {("provider_error", 1)}


def test_an_error_has_no_score(transcripts: list[Json], errors: list[Json]) -> None:
    scored = {each["probeIndex"] for each in transcripts if each["decisionCode"] is not None}
    assert scored.isdisjoint(each["index"] for each in errors)


def test_events_have_no_gaps_and_follow_the_phases(api: Client, run: Json) -> None:
    observed = [(event["seq"], event["type"]) for event in api.list_run_events(run["id"])]
    types = ["run.created", "run.started", "run.phase_changed", "run.finished"]
    assert observed == list(enumerate(types, start=1))


def test_the_last_event_has_the_final_status(api: Client, run: Json) -> None:
    assert api.list_run_events(run["id"])[-1]["data"]["to"] == "COMPLETED"


def test_timestamps_are_in_order(run: Json) -> None:
    times = [datetime.fromisoformat(run[name]) for name in ("createdAt", "startedAt", "completedAt")]
    assert all(earlier <= later for earlier, later in pairwise(times))


def test_the_same_seed_gives_the_same_sample_and_answers(api: Client, run: Json) -> None:
    sampled: dict[str, Any] = {"samplePercentage": 25, "sampleSeed": 7}
    observed = [
        [
            (each["scenarioId"], each["decisionCode"])
            for each in api.list_transcripts(evaluate(api, run["definitionId"], "sim/steady", **sampled)["id"])
        ]
        for _ in range(2)
    ]
    assert len(observed[0]) == SCENARIOS // 4
    assert observed[0] == observed[1]


def test_each_repeat_is_a_probe(api: Client, run: Json) -> None:
    ended = evaluate(api, run["definitionId"], "sim/bold", repeats=3, samplePercentage=10)
    assert ended["progress"] == {"total": 12, "completed": 12, "failed": 0}
