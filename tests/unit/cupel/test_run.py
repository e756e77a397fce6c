"""`cupel run` and `cupel watch`."""

import json
from pathlib import Path

import httpx
import pytest

from cupel.client import Client
from cupel.watch import follow
from tests.unit.cupel.fake_api import (
    REAL,
    SIMULATED,
    Cupel,
    FakeApi,
    a_delay,
    a_progress,
    a_run,
    a_target,
    a_transcript,
    an_error,
)

FACTS = """
name: Facts
tags: [demo]
content: {system: Be brief.}
scenarios:
  - {prompt: one}
  - {prompt: two}
  - {prompt: three}
"""
MATRIX = """
name: Dilemma
content: {template: "About [topic].", dimensions: [{name: topic, levels: [{score: 1, label: a, options: [b]}]}]}
generate: {mode: matrix, options: first}
"""


@pytest.fixture
def facts(tmp_path: Path) -> str:
    (tmp_path / "facts.yaml").write_text(FACTS)
    return str(tmp_path / "facts.yaml")


@pytest.fixture
def matrix(tmp_path: Path) -> str:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    return str(tmp_path / "matrix.yaml")


@pytest.fixture
def finished(api: FakeApi) -> FakeApi:
    api.transcripts = [a_transcript(index, SIMULATED, code) for index, code in enumerate(["2", "3", "4"])]
    api.transcripts += [a_transcript(index, REAL, "5", costUsd=0.25) for index in (3, 4)]
    api.errors = [an_error(5, REAL)]
    return api


def test_a_run_of_a_file_creates_its_definition_and_scenarios(api: FakeApi, cupel: Cupel, facts: str):
    assert cupel("run", facts, "--models", SIMULATED).exit_code == 0
    assert api.definitions[0]["name"] == "Facts"
    assert api.scenarios["def_1"] == [{"prompt": "one"}, {"prompt": "two"}, {"prompt": "three"}]


def test_a_second_run_of_the_same_file_creates_no_copy(api: FakeApi, cupel: Cupel, facts: str):
    cupel("run", facts, "--models", SIMULATED)
    cupel("run", facts, "--models", SIMULATED)
    assert len(api.definitions) == 1
    assert len(api.scenarios["def_1"]) == 3


@pytest.mark.parametrize(("count", "length", "sent"), [(2_500, 1, [1_000, 1_000, 500]), (5, 200_000, [2, 2, 1])])
def test_many_or_long_scenarios_are_sent_in_several_calls(
    api: FakeApi, cupel: Cupel, tmp_path: Path, count: int, length: int, sent: list[int]
):
    scenarios = [{"prompt": f"{number}".ljust(length, "x")} for number in range(count)]
    file = {"name": "Long", "content": {"system": "x"}, "scenarios": scenarios}
    (tmp_path / "long.json").write_text(json.dumps(file))
    cupel("run", str(tmp_path / "long.json"), "--models", SIMULATED)
    further = api.bodies("POST", "/definitions/def_1/scenarios")
    created = api.bodies("POST", "/definitions")[0]
    assert [len(items) for items in (created["scenarios"], *(body["items"] for body in further))] == sent
    assert api.scenarios["def_1"] == scenarios


def test_scenarios_are_generated_once(api: FakeApi, cupel: Cupel, matrix: str):
    cupel("run", matrix, "--models", SIMULATED)
    cupel("run", matrix, "--models", SIMULATED)
    assert api.bodies("POST", "/definitions/def_1/scenarios/generate") == [{"mode": "matrix", "options": "first"}]


def test_scenarios_that_a_model_writes_are_waited_for(api: FakeApi, cupel: Cupel, matrix: str, waits: list[float]):
    api.generations = [{"status": "QUEUED"}, {"status": "RUNNING"}, {"status": "COMPLETED"}]
    assert cupel("run", matrix, "--models", SIMULATED).exit_code == 0
    assert waits == [1.0, 1.0]


def test_scenarios_that_cannot_be_generated_start_no_run(api: FakeApi, cupel: Cupel, matrix: str):
    api.generations = [{"status": "QUEUED"}, {"status": "ERROR", "error": "the model refuses"}]
    answer = cupel("run", matrix, "--models", SIMULATED)
    assert answer.exit_code == 1
    assert "the scenarios could not be generated: the model refuses" in answer.stderr
    assert api.bodies("POST", "/runs") == []


def test_warnings_about_a_definition_are_printed(api: FakeApi, cupel: Cupel, matrix: str):
    api.warnings = [{"field": "content.dimensions.0", "message": "no placeholder uses it"}]
    assert "warning: content.dimensions.0: no placeholder uses it" in cupel("run", matrix, "--models", SIMULATED).stderr


@pytest.mark.parametrize("command", [["run", "{file}", "--models", SIMULATED], ["definitions", "create", "{file}"]])
def test_rows_of_a_table_that_nothing_checks_are_a_warning(cupel: Cupel, tmp_path: Path, command: list[str]):
    (tmp_path / "questions.csv").write_text("question,answer\nWho?,Me\nWhat?,\n,\nWhere?,\n")
    file = tmp_path / "eval.yaml"
    file.write_text("name: Support\nscenarios: questions.csv\n")
    answered = cupel(*(part.format(file=file) for part in command))
    unchecked = "expected answer: there is none, so nothing checks the answer"
    assert f"warning: questions.csv row 2 (line 3) and 1 more: {unchecked}" in answered.stderr
    assert "warning: questions.csv row 3 (line 4): row: it is empty" in answered.stderr


def test_an_existing_definition_is_run_by_its_id(api: FakeApi, cupel: Cupel):
    cupel("run", "def_7", "--models", SIMULATED)
    assert api.bodies("POST", "/runs")[0]["definitionId"] == "def_7"
    assert api.definitions == []


def test_options_become_the_specification_of_the_run(api: FakeApi, cupel: Cupel):
    options = ["--sample", "10", "--seed", "42", "--repeats", "3", "--temperature", "0.5", "--max-turns", "2"]
    cupel("run", "def_7", "--models", "a/x, b/y", "--models", "c/z", *options)
    assert api.bodies("POST", "/runs") == [
        {
            "definitionId": "def_7",
            "models": ["a/x", "b/y", "c/z"],
            "samplePercentage": 10,
            "sampleSeed": 42,
            "repeats": 3,
            "config": {"temperature": 0.5, "maxTurns": 2},
        }
    ]


def test_a_run_and_its_repetition_limit_the_attempts_of_calls(api: FakeApi, cupel: Cupel):
    options = ("--max-attempts", "2", "--retry-delay-seconds", "7.5")
    cupel("run", "def_7", "--models", "a/x", *options)
    cupel("rerun", "run_1", *options)
    bodies = [*api.bodies("POST", "/runs"), *api.bodies("POST", "/runs/run_1/rerun")]
    assert [body["config"] for body in bodies] == [{"maxAttempts": 2, "retryDelaySeconds": 7.5}] * 2


def test_omitted_options_are_left_to_the_api(api: FakeApi, cupel: Cupel):
    cupel("run", "def_7", "--models", "a/x")
    assert api.bodies("POST", "/runs") == [
        {"definitionId": "def_7", "models": ["a/x"], "samplePercentage": 100, "repeats": 1, "config": {}}
    ]


def test_without_watch_it_says_how_to_follow(cupel: Cupel):
    assert cupel("run", "def_7", "--models", SIMULATED).stdout == "cupel watch run_1\n"


@pytest.mark.usefixtures("finished")
def test_watching_ends_with_results_and_next_commands(cupel: Cupel):
    answer = cupel("run", "def_7", "--models", f"{SIMULATED},{REAL}", "--watch")
    assert answer.exit_code == 0
    assert "http://api.test/v1" in answer.stdout
    assert "a test" in answer.stdout
    assert "cupel show run_1" in answer.stdout
    assert f"cupel transcripts run_1 --model {SIMULATED}" in answer.stdout
    assert "cupel export run_1 --format csv --output run_1.csv" in answer.stdout


@pytest.mark.usefixtures("finished")
def test_with_json_standard_output_is_one_document(cupel: Cupel):
    answer = cupel("run", "def_7", "--models", f"{SIMULATED},{REAL}", "--watch", "--json")
    document = json.loads(answer.stdout)
    assert (document["run"]["id"], document["jobCount"]) == ("run_1", 6)
    assert [model["model"] for model in document["results"]] == [SIMULATED, REAL]


def test_without_watch_json_is_the_response_of_the_api(cupel: Cupel):
    document = json.loads(cupel("run", "def_7", "--models", SIMULATED, "--json").stdout)
    assert document.keys() == {"run", "jobCount", "estimate"}


@pytest.mark.parametrize(("status", "exit_code"), [("COMPLETED", 0), ("FAILED", 1), ("CANCELLED", 1)])
def test_the_exit_code_is_the_runs(finished: FakeApi, cupel: Cupel, status: str, exit_code: int):
    finished.polls = ["PENDING", "RUNNING", status]
    assert cupel("watch", "run_1").exit_code == exit_code


def test_without_a_terminal_watching_ends_at_a_run_that_waits_for_a_repair(api: FakeApi, cupel: Cupel):
    """A pipeline would wait until its own time limit, because nobody is there to repair the provider."""
    cause = {"model": "custom/gpt-x", "message": "it refuses every call (auth): no such key"}
    api.runs = [a_run(pauseReason="provider", pauseCause=cause)]
    api.polls = ["RUNNING", "RUNNING", "PAUSED"]
    answer = cupel("watch", "run_1")
    assert answer.exit_code == 1
    assert answer.stderr.count("custom/gpt-x cannot be called: it refuses every call (auth): no such key") == 1
    assert "cupel providers set custom" in answer.stderr


def test_a_failed_run_says_where_and_why(api: FakeApi, cupel: Cupel):
    failure = {"where": "probing", "why": "no conversation completed"}
    api.runs = [a_run(status="FAILED", failure=failure, progress={"total": 6, "completed": 0, "failed": 6})]
    answer = cupel("watch", "run_1")
    assert "failed in probing: no conversation completed" in answer.stdout
    assert answer.exit_code == 1


def test_without_a_terminal_there_is_a_line_every_ten_seconds_and_at_the_end(api: FakeApi, cupel: Cupel):
    times = [("09:30:00", "RUNNING"), ("09:30:09", "RUNNING"), ("09:30:10", "RUNNING"), ("09:30:12", "COMPLETED")]
    target = a_target(SIMULATED, 6, 2)
    api.progress = [a_progress(target, status=status, readAt=f"2026-01-31T{time}.000Z") for time, status in times]
    lines = [line for line in cupel("watch", "run_1").stderr.splitlines() if line.startswith("run_1 ")]
    assert [line.rpartition("after ")[2] for line in lines] == ["0:10", "0:12"]


def test_what_holds_up_a_run_is_printed_when_it_begins_to(api: FakeApi, cupel: Cupel):
    limits = [a_delay("learned_limit", provider="sim", limit=10, learnedLimit=limit) for limit in (4, 5, 6)]
    targets = [a_target(SIMULATED, 6, 2, delays=[limit]) for limit in limits]
    api.progress = [*map(a_progress, targets), a_progress(a_target(SIMULATED, 6, 6), status="COMPLETED")]
    assert cupel("watch", "run_1").stderr.count("sim throttles the calls: ") == 1


def test_polling_slows_down_to_once_a_second(api: FakeApi, client: Client, waits: list[float]):
    api.polls = [*["RUNNING"] * 12, "COMPLETED"]
    statuses = [run["status"] for run in follow(client, a_run(status="PENDING"), waits.append)]
    assert statuses[-1] == "COMPLETED"
    assert (waits[0], waits[-1]) == (0.25, 1.0)
    assert waits == sorted(waits)


def test_interrupting_the_watch_prints_how_to_resume_it(api: FakeApi, cupel: Cupel):
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    api.polls = ["RUNNING"]
    answer = cupel("watch", "run_1", sleep=interrupt)
    assert answer.exit_code == 130
    assert "the run continues; watch it again with: cupel watch run_1" in answer.stderr


def test_a_refused_start_names_the_fields_and_is_a_usage_error(api: FakeApi, cupel: Cupel):
    errors = [{"field": "models.0", "message": "unknown provider nope"}]
    api.refusals = [httpx.Response(422, json={"title": "Invalid request", "detail": "x", "errors": errors})]
    answer = cupel("run", "def_7", "--models", "nope/x")
    assert answer.exit_code == 2
    assert answer.stderr == "cupel: 422 Invalid request\n  --models: unknown provider nope\n"
    assert answer.stdout == ""


def test_an_api_that_cannot_be_reached_is_a_failure(api: FakeApi, cupel: Cupel):
    api.refusals = [httpx.ConnectError("connection refused")] * 4
    answer = cupel("run", "def_7", "--models", SIMULATED)
    assert answer.exit_code == 1
    assert answer.stderr == (
        "cupel: http://api.test cannot be reached: no server answers at this address; the address is from a test\n"
    )


def test_an_unknown_run_is_a_usage_error(cupel: Cupel):
    answer = cupel("watch", "run_nope")
    assert answer.exit_code == 2
    assert "404 Not found" in answer.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "def_7"],
        ["run", "def_7", "--models", ""],
        ["run", "def_7", "--models", "a/x,,b/y"],
        ["run", "def_7", "--models", "a/x", "--sample", "0"],
        ["run", "def_7", "--models", "a/x", "--sample", "101"],
        ["run", "def_7", "--models", "a/x", "--repeats", "0"],
        ["run", "def_7", "--models", "a/x", "--temperature", "3"],
        ["run", "no-such-file.yaml", "--models", "a/x"],
        ["nonsense"],
    ],
)
def test_invalid_arguments_are_usage_errors_and_send_no_request(api: FakeApi, cupel: Cupel, arguments: list[str]):
    assert cupel(*arguments).exit_code == 2
    assert api.requests == []


def test_a_model_that_is_not_in_the_price_list_is_a_warning_and_the_run_starts(api: FakeApi, cupel: Cupel, facts: str):
    result = cupel("run", facts, "--models", "openai/gpt5-mini", "--judge-model", "mistral/zzz")
    assert result.exit_code == 0
    assert "openai/gpt5-mini is not in the price list; did you mean openai/gpt-5-mini?" in result.stderr
    assert "mistral/zzz is not in the price list; if the name is right" in result.stderr


def test_listed_and_uncataloged_models_are_no_warning(api: FakeApi, cupel: Cupel, facts: str):
    result = cupel("run", facts, "--models", "openai/gpt-5-mini-2025-08-07,custom/anything,sim/steady")
    assert "price list" not in result.stderr
