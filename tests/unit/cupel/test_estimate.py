"""`cupel estimate`, against the real API function and in process."""

import json
from pathlib import Path

import pytest

from cupel import evaluate
from cupel.client import Client
from cupel_core.store.settings import Settings
from tests.conftest import ROOT
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

DILEMMA = str(ROOT / "samples/value-dilemma.yaml")
PRICES = [{"model": "m", "inputUsdPerMillion": 1000, "outputUsdPerMillion": 1000}]


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    client.update_provider("custom", {"baseUrl": "http://127.0.0.1:1/v1", "prices": PRICES})
    return command_of(client)


def test_a_file_is_estimated_as_it_would_be_run(cupel: Cupel) -> None:
    answer = cupel("estimate", DILEMMA, "--models", "custom/m,sim/steady", "--repeats", "2")
    assert answer.exit_code == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["custom/m", "72"], ["sim/steady", "72"]]
    assert lines[1].count("$") == 3
    assert lines[4].startswith("144 conversations: $")
    assert lines[-2].startswith("basis  the texts, and usual lengths")
    assert lines[-1].startswith("bounds  the two amounts in brackets are a range")


def test_a_model_without_a_price_is_named(cupel: Cupel) -> None:
    answer = cupel("estimate", DILEMMA, "--models", "custom/other,custom/m")
    assert "without custom/other, whose price is unknown" in answer.stdout


def test_what_costs_nothing_has_no_range(cupel: Cupel) -> None:
    lines = cupel("estimate", DILEMMA, "--models", "sim/steady").stdout.splitlines()
    assert (lines[-1].startswith("basis  "), "brackets" in "".join(lines)) == (True, False)
    assert lines[3].startswith("36 conversations: $0, ")
    duration = lines[3].removeprefix("36 conversations: $0, ").split(" to ")
    assert len(set(duration)) == len(duration)


def test_the_estimate_of_an_eval_is_printed(cupel: Cupel, client: Client) -> None:
    definition = client.create_definition({"name": "d", "content": {"system": "Be brief."}})
    client.create_scenarios(definition["id"], [{"prompt": "Hello"}])
    [scenario] = client.list_scenarios(definition["id"])
    created = {"name": "e", "scenarioIds": [scenario["id"]], "model": "sim/steady"}
    eval_id = client.create_eval(created)["id"]
    answer = cupel("evals", "estimate", eval_id, "--repeats", "4")
    assert "4 conversations: $0" in answer.stdout, answer.stderr


def test_an_estimate_in_process_needs_no_stack(cupel: Cupel, tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"name": "q", "content": {"system": "s" * 368}, "scenarios": [{"prompt": "q" * 368}]}))
    answer = cupel("estimate", str(path), "--models", "sim/echo", "--repeats", "3", "--in-process", "--json")
    figures = json.loads(answer.stdout)
    assert (figures["jobCount"], figures["targets"][0]["inputTokens"]["expected"]) == (3, 600)


def test_an_estimate_in_process_needs_no_key_and_says_what_a_start_needs(
    cupel: Cupel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answer = cupel("estimate", DILEMMA, "--models", "openai/gpt-5-mini", "--in-process")
    printed = answer.stdout + answer.stderr
    assert answer.exit_code == 0
    assert "to start it: provider openai needs an API key: set OPENAI_API_KEY" in printed


GRADED = [
    {"type": "llm-rubric", "value": "polite"},
    {"type": "assert-set", "assert": [{"type": "not-g-eval", "value": ["short", "true"]}]},
    {"type": "select-best", "value": "the best"},
    {"type": "select-best", "value": "the shortest"},
]


@pytest.mark.parametrize("targets", [["sim/steady"], ["sim/steady", "sim/bold", "sim/echo"]])
def test_as_many_calls_of_a_judge_are_estimated_as_are_made(cupel: Cupel, tmp_path: Path, targets: list[str]) -> None:
    path = tmp_path / "q.json"
    asked = [{"prompt": "How strongly?"}, {"prompt": "And how often?"}]
    path.write_text(json.dumps({"name": "q", "content": {"assertions": GRADED}, "scenarios": asked}))
    made = evaluate(path, targets, judge_model="sim/steady", repeats=2, progress=False)
    options = ["--judge-model", "sim/steady", "--repeats", "2", "--in-process", "--json"]
    estimated = json.loads(cupel("estimate", str(path), "--models", ",".join(targets), *options).stdout)
    [judge] = estimated["graders"]
    assert judge["calls"]["expected"] == sum(result.spends["judge"].calls for result in made.results)


def test_an_estimate_says_what_is_left_of_each_budget(cupel: Cupel, client: Client) -> None:
    client.update_settings({"budgets": {"dayUsd": 1, "monthUsd": 2_000_000}})
    answer = cupel("estimate", DILEMMA, "--models", "custom/m", "--budget", "5")
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout.splitlines()[-2:] == [
        "budget $5.00 for the run, $1.00 left of the workspace's day, $2,000,000.00 left of its month: "
        "the expected cost exceeds what is left of the day",
        "       calls in flight may exceed it: custom/m without maxOutputTokens",
    ]


def test_a_budget_that_is_never_exceeded_needs_no_remark(cupel: Cupel) -> None:
    limit = ("--param", "maxOutputTokens=100")
    assert "may exceed" not in cupel("estimate", DILEMMA, "--models", "custom/m", *limit, "--budget", "9000").stdout


def test_an_estimate_of_a_sample_says_what_the_others_cost(cupel: Cupel) -> None:
    sampled = cupel("estimate", DILEMMA, "--models", "custom/m", "--sample", "25").stdout
    assert "all other scenarios: 27 conversations more, $" in sampled
    assert "all other scenarios" not in cupel("estimate", DILEMMA, "--models", "custom/m").stdout


def test_without_a_budget_an_estimate_names_none(cupel: Cupel) -> None:
    assert "budget" not in cupel("estimate", DILEMMA, "--models", "custom/m").stdout


def test_a_budget_in_process_is_compared_with_the_estimate(cupel: Cupel) -> None:
    answer = cupel("estimate", DILEMMA, "--models", "sim/steady", "--in-process", "--budget", "5")
    assert answer.stdout.splitlines()[-1] == "budget $5.00 for the run: the run fits", answer.stderr
