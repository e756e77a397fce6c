"""Checks that an import left out are told by results, transcripts, analyses and reports."""

from typing import Any

import pytest

from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import TranscriptResult
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.store import outcomes
from tests.answered_runs import AnsweredRun
from tests.started_runs import ref_of
from tests.unit.api.client import Client
from tests.unit.api.test_reports import made
from tests.unit.interop.imports.cases import config_path

LEFT_OUT = {"javascript": 2, "is-sql": 1}
MESSAGE = "3 of 8 conversations lack checks that their author wrote (javascript 6, is-sql 3)"


def scored(index: int) -> Scoring:
    """The first three conversations, of the first target, lack checks."""
    result = AssertionResult("contains", True, 1.0, "")
    return build_scoring(None, None, (result,), left_out=LEFT_OUT if index < 3 else None)


@pytest.fixture
def run(client: Client) -> Run:
    return AnsweredRun(scoring=scored, repeats=4, workspace="acme").completed()


def columns(client: Client, run: Run) -> list[tuple[int, dict[str, int]]]:
    table = client.get(f"/v1/runs/{run.id}/results").json()["columns"]
    return [(each["partlyChecked"], each["leftOutChecks"]) for each in table]


def test_results_count_them_by_target(client: Client, run: Run) -> None:
    assert columns(client, run) == [(3, {"javascript": 6, "is-sql": 3}), (0, {})]


def test_a_transcript_names_its_own(client: Client, run: Run) -> None:
    items: list[Any] = client.get(f"/v1/runs/{run.id}/transcripts").json()["items"]
    found = sorted(items, key=lambda each: each["probeIndex"])
    assert [each["scoring"]["leftOutChecks"] for each in found[:4]] == [LEFT_OUT, LEFT_OUT, LEFT_OUT, {}]


def test_a_result_that_a_person_has_set_is_complete(client: Client, run: Run) -> None:
    outcomes.set_correction(ref_of(run), 1, TranscriptResult(True))
    assert columns(client, run)[0] == (2, {"javascript": 4, "is-sql": 2})


def test_an_analysis_cautions(client: Client, run: Run) -> None:
    assert client.post(f"/v1/runs/{run.id}/analysis").status == 200
    cautions = client.get(f"/v1/runs/{run.id}/analysis").json()["figures"]["cautions"]
    assert [(each["text"], each["columns"]) for each in cautions if each["code"] == "LEFT_OUT_CHECKS"] == [
        (MESSAGE, [0])
    ]


@pytest.mark.parametrize("kind", ["md", "html"])
def test_a_report_says_so_in_every_format(client: Client, run: Run, kind: str) -> None:
    assert f"{MESSAGE}." in made(client, run)["content"]["notes"]
    text = client.get(f"/v1/runs/{run.id}/report", query={"format": kind}).text
    assert "3 of 8 conversations lack checks that their author wrote" in text


def test_an_imported_scenario_has_the_counts_until_they_are_changed(client: Client) -> None:
    config = config_path("partly_imported").read_text()
    [definition] = client.post("/v1/imports/promptfoo", json={"config": config}).json()["definitions"]
    path = f"/v1/definitions/{definition['id']}/scenarios"
    [scenario] = client.get(path).json()["items"]
    assert scenario["leftOutChecks"] == {"javascript": 1, "is-sql": 1, "context-recall": 1}
    changed = client.patch(f"{path}/{scenario['id']}", json={"name": "renamed"}).json()
    assert changed["leftOutChecks"] == scenario["leftOutChecks"]
    done = client.patch(f"{path}/{scenario['id']}", json={"leftOutChecks": {}}).json()
    assert done["leftOutChecks"] == {}
