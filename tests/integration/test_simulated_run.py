"""A run of simulated models, from its start to what can be read of it."""

from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from cupel.client import Client
from tests.eval_api import RATING, Json, define, evaluate

MODELS = ("sim/steady", "sim/bold", "sim/contrarian", "sim/flaky")
SCENARIOS = 40
TRANSCRIPT_FIELDS = {
    *("id", "runId", "probeIndex", "scenarioId", "modelId", "modelVersion", "definitionSnapshot", "content"),
    *("turnCount", "tokenCount", "usage", "durationMs", "costUsd", "decisionCode", "decisionText", "summarizedAt"),
    *("result", "createdAt", "lastAccessedAt", "contentExpiresAt"),
}
MAY_BE_NULL = {"costUsd", "lastAccessedAt", "summaryError", "result", "personaId", "verdict", "scoring"}
"""Nobody plays the user of these, and nothing is asserted of them."""


@pytest.fixture(scope="module")
def run(api: Client) -> Json:
    return evaluate(api, define(api, SCENARIOS), *MODELS, sampleSeed=7)


@pytest.fixture(scope="module")
def transcripts(api: Client, run: Json) -> list[Json]:
    return list(api.transcripts(run["id"]))


@pytest.fixture(scope="module")
def errors(api: Client, run: Json) -> list[Json]:
    return list(api.probes(run["id"], status="ERROR"))


def test_the_run_completes(run: Json) -> None:
    assert (run["status"], run["failure"], run["epoch"]) == ("COMPLETED", None, 1)


def test_every_probe_has_one_outcome(run: Json, transcripts: list[Json], errors: list[Json]) -> None:
    indexes = [each["probeIndex"] for each in transcripts] + [each["index"] for each in errors]
    assert sorted(indexes) == list(range(SCENARIOS * len(MODELS)))


def test_progress_is_what_the_transcripts_and_errors_say(
    run: Json, transcripts: list[Json], errors: list[Json]
) -> None:
    expected = {"total": SCENARIOS * len(MODELS), "completed": len(transcripts), "failed": len(errors)}
    assert run["progress"] == expected


def test_every_model_answers_every_scenario(transcripts: list[Json], errors: list[Json]) -> None:
    met = {(each["modelId"], each["scenarioId"]) for each in (*transcripts, *errors)}
    assert len(met) == SCENARIOS * len(MODELS)


def test_a_transcript_has_all_its_fields(transcripts: list[Json]) -> None:
    assert {field for each in transcripts for field in TRANSCRIPT_FIELDS - set(each)} == set()


def test_no_transcript_lacks_what_it_must_tell(transcripts: list[Json]) -> None:
    assert {name for each in transcripts for name, value in each.items() if value is None} <= MAY_BE_NULL


def test_a_transcript_holds_the_conversation(transcripts: list[Json]) -> None:
    spoken = {tuple(message["role"] for message in each["content"]["messages"]) for each in transcripts}
    assert spoken == {("user", "assistant")}


def test_tokens_are_those_of_the_usage(transcripts: list[Json]) -> None:
    assert all(each["tokenCount"] == sum(each["usage"].values()) > 0 for each in transcripts)


def test_the_decision_is_the_one_that_was_said(transcripts: list[Json]) -> None:
    said = [each["content"]["messages"][-1]["content"].rpartition("Rating: ")[2] for each in transcripts]
    assert [each["decisionCode"] for each in transcripts] == said


def test_the_definition_is_kept_with_the_transcript(transcripts: list[Json]) -> None:
    assert all(
        each["definitionSnapshot"]["decision"]["pattern"] == RATING["decision"]["pattern"] for each in transcripts
    )


def test_one_transcript_reads_as_in_the_list(api: Client, transcripts: list[Json]) -> None:
    alone = api.transcript(transcripts[0]["id"])
    assert alone | {"lastAccessedAt": None} == transcripts[0] | {"lastAccessedAt": None}


def test_transcripts_are_listed_by_model(api: Client, run: Json, transcripts: list[Json]) -> None:
    bold = [each["id"] for each in transcripts if each["modelId"] == "sim/bold"]
    assert [each["id"] for each in api.transcripts(run["id"], model="sim/bold")] == bold


def test_transcripts_are_listed_by_scenario(api: Client, run: Json, transcripts: list[Json]) -> None:
    scenario_id = transcripts[0]["scenarioId"]
    expected = [each["id"] for each in transcripts if each["scenarioId"] == scenario_id]
    assert [each["id"] for each in api.transcripts(run["id"], scenario_id=scenario_id)] == expected


def test_only_the_flaky_model_has_errors(errors: list[Json]) -> None:
    assert {each["modelId"] for each in errors} == {"sim/flaky"}


def test_an_errored_probe_says_why(errors: list[Json]) -> None:
    assert {(each["error"]["code"], each["error"]["attempts"]) for each in errors} == {("provider_error", 1)}


def test_an_error_has_no_score(transcripts: list[Json], errors: list[Json]) -> None:
    scored = {each["probeIndex"] for each in transcripts if each["decisionCode"] is not None}
    assert scored.isdisjoint(each["index"] for each in errors)


def test_events_are_gapless_and_in_the_order_of_the_phases(api: Client, run: Json) -> None:
    told = [(event["seq"], event["type"]) for event in api.events(run["id"])]
    types = ["run.created", "run.started", "run.phase_changed", "run.finished"]
    assert told == list(enumerate(types, start=1))


def test_the_last_event_tells_the_end(api: Client, run: Json) -> None:
    assert api.events(run["id"])[-1]["data"]["to"] == "COMPLETED"


def test_times_follow_each_other(run: Json) -> None:
    times = [datetime.fromisoformat(run[name]) for name in ("createdAt", "startedAt", "completedAt")]
    assert all(earlier <= later for earlier, later in pairwise(times))


def test_the_same_seed_gives_the_same_sample_and_answers(api: Client, run: Json) -> None:
    again: dict[str, Any] = {"samplePercentage": 25, "sampleSeed": 7}
    told = [
        [
            (each["scenarioId"], each["decisionCode"])
            for each in api.transcripts(evaluate(api, run["definitionId"], "sim/steady", **again)["id"])
        ]
        for _ in range(2)
    ]
    assert len(told[0]) == SCENARIOS // 4
    assert told[0] == told[1]


def test_a_repeat_is_a_probe_of_its_own(api: Client, run: Json) -> None:
    ended = evaluate(api, run["definitionId"], "sim/bold", repeats=3, samplePercentage=10)
    assert ended["progress"] == {"total": 12, "completed": 12, "failed": 0}
