"""The `cupel` command as a person uses it: a process of its own, against a stack."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cupel.client import Client
from cupel.stack.address import Local
from cupel.stack.paths import Place
from cupel.stack.subprocesses import child_environment
from tests.e2e.conftest import Cupel
from tests.eval_api import RATING, Json, define
from tests.stacks import ROOT

FACTS = str(ROOT / "samples" / "facts.yaml")


@pytest.fixture(scope="module")
def evaluated(cupel: Cupel) -> Json:
    done = cupel("run", FACTS, "--models", "sim/steady,sim/bold", "--watch", "--json")
    assert done.returncode == 0, done.stderr
    told: Json = json.loads(done.stdout)
    return told


def run_of(told: Json) -> Json:
    run: Json = told["run"]
    return run


def test_a_run_is_watched_to_its_end(evaluated: Json) -> None:
    assert (run_of(evaluated)["status"], evaluated["jobCount"]) == ("COMPLETED", 24)


def test_results_are_told_per_model(evaluated: Json) -> None:
    told = {each["model"]: (each["probes"], each["completed"], each["failed"]) for each in evaluated["results"]}
    assert told == {"sim/steady": (12, 12, 0), "sim/bold": (12, 12, 0)}


def test_the_same_file_is_published_once(cupel: Cupel, evaluated: Json) -> None:
    again = cupel("run", FACTS, "--models", "sim/steady", "--sample", "25", "--seed", "1", "--json")
    started = json.loads(again.stdout)
    assert (again.returncode, started["jobCount"]) == (0, 3)
    assert started["run"]["definitionId"] == run_of(evaluated)["definitionId"]


def test_a_run_is_shown_as_a_table(cupel: Cupel, evaluated: Json) -> None:
    shown = cupel("show", run_of(evaluated)["id"])
    assert shown.returncode == 0
    assert "sim/steady" in shown.stdout
    assert "simulated" in shown.stdout + shown.stderr


def test_runs_are_listed(cupel: Cupel, evaluated: Json) -> None:
    listed = cupel("runs", "--json")
    assert run_of(evaluated)["id"] in {each["id"] for each in json.loads(listed.stdout)}


def test_jsonl_has_a_line_for_each_transcript(cupel: Cupel, evaluated: Json) -> None:
    exported = cupel("export", run_of(evaluated)["id"], "--format", "jsonl")
    lines = [json.loads(line) for line in exported.stdout.splitlines()]
    assert (exported.returncode, [each["probeIndex"] for each in lines]) == (0, list(range(24)))


def test_csv_has_a_row_for_each_transcript(cupel: Cupel, evaluated: Json, tmp_path: Path) -> None:
    output = tmp_path / "run.csv"
    exported = cupel("export", run_of(evaluated)["id"], "--format", "csv", "--output", str(output))
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (exported.returncode, len(rows)) == (0, 24)
    assert {row["decisionCode"] for row in rows} <= set("12345")


def test_a_failed_run_is_exit_code_1(cupel: Cupel, api: Client) -> None:
    done = cupel("run", define(api, 2, RATING), "--models", "sim/nobody", "--watch", "--json")
    assert (done.returncode, json.loads(done.stdout)["run"]["status"]) == (1, "FAILED")


def test_an_api_that_cannot_be_reached_is_exit_code_1(stack: Local, place: Place) -> None:
    nowhere = {"CUPEL_API_URL": "http://127.0.0.1:9", "CUPEL_TOKEN": stack.token}
    command = [str(Path(sys.executable).parent / "cupel"), "runs"]
    environment = child_environment(place) | nowhere
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "cannot be reached" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", FACTS, "--models", "nobody/x"], "models.0"),
        (["run", "missing.yaml", "--models", "sim/steady"], "missing.yaml"),
        (["run", FACTS, "--models", "sim/steady", "--sample", "0"], "sample"),
        (["show", "run_nobody"], "run_nobody"),
        (["unknown"], "unknown"),
    ],
)
def test_wrong_use_is_exit_code_2_and_names_what_is_wrong(cupel: Cupel, arguments: list[str], told: str) -> None:
    done = cupel(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_tokens_are_made_used_and_revoked(cupel: Cupel, stack: Local) -> None:
    made = json.loads(cupel("tokens", "create", "--name", "e2e", "--role", "viewer", "--json").stdout)
    with Client(stack.api_url, made["token"]) as viewer:
        assert list(viewer.models())
    assert cupel("tokens", "revoke", made["id"]).returncode == 0
    assert made["token"] not in cupel("tokens", "--json").stdout
