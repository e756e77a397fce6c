"""The `cupel` command as a person uses it: a process of its own, against a stack."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cupel.client import Client
from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from cupel.stack.subprocesses import child_environment
from tests.e2e.conftest import Cupel
from tests.eval_api import RATING, Json, create_definition
from tests.stacks import ROOT

FACTS = str(ROOT / "samples" / "facts.yaml")


@pytest.fixture(scope="module")
def run_output(cupel: Cupel) -> Json:
    completed = cupel("run", FACTS, "--models", "sim/steady,sim/bold", "--watch", "--json")
    assert completed.returncode == 0, completed.stderr
    printed: Json = json.loads(completed.stdout)
    return printed


def run_of(printed: Json) -> Json:
    run: Json = printed["run"]
    return run


def test_a_run_is_watched_to_its_end(run_output: Json) -> None:
    assert (run_of(run_output)["status"], run_output["jobCount"]) == ("COMPLETED", 24)


def test_results_are_printed_per_model(run_output: Json) -> None:
    counts = {each["model"]: (each["probes"], each["completed"], each["errored"]) for each in run_output["results"]}
    assert counts == {"sim/steady": (12, 12, 0), "sim/bold": (12, 12, 0)}


def test_the_same_file_is_published_once(cupel: Cupel, run_output: Json) -> None:
    completed = cupel("run", FACTS, "--models", "sim/steady", "--sample", "25", "--seed", "1", "--json")
    started = json.loads(completed.stdout)
    assert (completed.returncode, started["jobCount"]) == (0, 3)
    assert started["run"]["definitionId"] == run_of(run_output)["definitionId"]


def test_a_run_is_shown_as_a_table(cupel: Cupel, run_output: Json) -> None:
    completed = cupel("show", run_of(run_output)["id"])
    assert completed.returncode == 0
    assert "sim/steady" in completed.stdout
    assert "simulated" in completed.stdout + completed.stderr


def test_runs_are_listed(cupel: Cupel, run_output: Json) -> None:
    completed = cupel("runs", "--json")
    assert run_of(run_output)["id"] in {each["id"] for each in json.loads(completed.stdout)}


def test_jsonl_has_a_line_for_each_transcript(cupel: Cupel, run_output: Json) -> None:
    completed = cupel("export", run_of(run_output)["id"], "--format", "jsonl")
    lines = [json.loads(line) for line in completed.stdout.splitlines()]
    assert (completed.returncode, [each["probeIndex"] for each in lines]) == (0, list(range(24)))


def test_csv_has_a_row_for_each_transcript(cupel: Cupel, run_output: Json, tmp_path: Path) -> None:
    output = tmp_path / "run.csv"
    completed = cupel("export", run_of(run_output)["id"], "--format", "csv", "--output", str(output))
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (completed.returncode, len(rows)) == (0, 24)
    assert {row["passed"] for row in rows} <= {"True", "False", "true", "false"}


def test_a_failed_run_is_exit_code_1(cupel: Cupel, api: Client) -> None:
    api.update_provider("deepseek", {"baseUrl": "http://127.0.0.1:9", "apiKey": "dummy"})
    completed = cupel("run", create_definition(api, 2, RATING), "--models", "deepseek/nobody", "--watch", "--json")
    assert (completed.returncode, json.loads(completed.stdout)["run"]["status"]) == (1, "FAILED")


def test_an_api_that_cannot_be_reached_is_exit_code_1(stack: LocalStack, stack_paths: StackPaths) -> None:
    nowhere = {"CUPEL_API_URL": "http://127.0.0.1:9", "CUPEL_TOKEN": stack.token}
    command = [str(Path(sys.executable).parent / "cupel"), "runs"]
    environment = child_environment(stack_paths) | nowhere
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (completed.returncode, "cannot be reached" in completed.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", FACTS, "--models", "nobody/x"], "--models: "),
        (["run", "missing.yaml", "--models", "sim/steady"], "missing.yaml"),
        (["run", FACTS, "--models", "sim/steady", "--sample", "0"], "sample"),
        (["show", "run_nobody"], "run_nobody"),
        (["unknown"], "unknown"),
    ],
)
def test_a_usage_error_is_exit_code_2_and_names_the_problem(cupel: Cupel, arguments: list[str], message: str) -> None:
    completed = cupel(*arguments)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert message in completed.stderr


def test_tokens_are_created_used_and_revoked(cupel: Cupel, stack: LocalStack) -> None:
    created = json.loads(cupel("tokens", "create", "--name", "e2e", "--role", "viewer", "--json").stdout)
    with Client(stack.api_url, created["token"]) as viewer:
        assert list(viewer.list_models())
    assert cupel("tokens", "revoke", created["id"]).returncode == 0
    assert created["token"] not in cupel("tokens", "--json").stdout
