"""Several tasks count a run of more than 10,000 probes for the analysis at its end."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from cupel.client import Client
from tests.eval_api import Json, create_definition, figures_of, start_run, wait_for_end
from tests.stacks import output_of

MODELS = ("sim/steady", "sim/bold")
SCENARIOS, REPEATS = 51, 100
PROBES = SCENARIOS * REPEATS * len(MODELS)


@pytest.fixture(scope="module")
def run(api: Client) -> Json:
    """More than 10,000 probes: two count files, so the Tabulate Map has two tasks."""
    run_id = start_run(api, create_definition(api, SCENARIOS), *MODELS, repeats=REPEATS, sampleSeed=7)
    return wait_for_end(api, run_id, seconds=300)


@pytest.fixture(scope="module")
def figures(api: Client, run: Json) -> Json:
    return figures_of(api, run)


def test_the_map_counts_every_probe_once(run: Json, figures: Json) -> None:
    assert run["status"] == "COMPLETED"
    assert (figures["overall"]["completed"], figures["overall"]["errored"]) == (PROBES, 0)


def test_each_task_of_the_map_wrote_a_file(run: Json, figures: Json, aws: Callable[[str], Any]) -> None:
    listed = aws("s3").list_objects_v2(Bucket=output_of(aws, "BucketName"), Prefix="analyses/")["Contents"]
    names = [each["Key"].rpartition("/")[2] for each in listed if f"/{run['id']}/" in each["Key"]]
    assert sorted(name for name in names if name.startswith("counts-")) == [
        "counts-3-000000.bin.gz",
        "counts-3-000100.bin.gz",
    ]


def test_the_map_has_a_task_per_file(run: Json, figures: Json, aws: Callable[[str], Any]) -> None:
    client = aws("stepfunctions")
    machines = client.list_state_machines()["stateMachines"]
    arn = next(each["stateMachineArn"] for each in machines if each["name"].endswith("finish"))
    execution = f"{arn.replace(':stateMachine:', ':execution:')}:{run['id']}-1"
    events = client.get_execution_history(executionArn=execution, maxResults=1_000)["events"]
    entered = {each["name"]: each for event in events if (each := event.get("stateEnteredEventDetails"))}
    files = json.loads(entered["Tabulate"]["input"])["settled"]["files"]
    assert files == [{"firstLeaf": 0, "leaves": 100}, {"firstLeaf": 100, "leaves": 2}]
    assert ("Analyze" in entered, "SkipAnalysis" in entered) == (True, False)


def test_figures_are_those_of_the_transcripts(api: Client, run: Json, figures: Json) -> None:
    """The figures are those of the target whose probes lie in both files."""
    column = figures["columns"][1]
    counted = {each["code"]: each["estimate"]["successes"] for each in column["estimate"]["distribution"]}
    codes = Counter(each["decisionCode"] for each in api.list_transcripts(run["id"], model=column["targetId"]))
    assert {code: count for code, count in counted.items() if count} == dict(codes)
