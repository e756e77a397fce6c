"""The API says why answers were not scored: in results, scores, analysis, progress and report of a run."""

from typing import Any

import pytest

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Transcript, TranscriptResult
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.runs.erasure import delete_probe_content
from cupel_core.store import outcomes
from tests.answered_runs import AnsweredRun
from tests.started_runs import ref_of
from tests.unit.api.client import Client
from tests.unit.api.test_reports import made, newest

SILENT = UnscoredCause(UnscoredCode.JUDGE_REPLY, "sim/sphinx")
REFUSED = UnscoredCause(UnscoredCode.JUDGE_FAILED, "sim/sphinx", "auth")


def scored(index: int) -> Scoring:
    """Leave three of six answers unscored: two without a usable reply of the judge, one because of its provider."""
    if index % 6 in (1, 4):
        return unscored(f"<b>riddle</b> {index}", SILENT)
    if index % 6 == 2:
        return unscored("HTTP 401", REFUSED)
    return build_scoring(None, None, (AssertionResult("g-eval", True, 1.0, ""),))


def unscored(error: str, cause: UnscoredCause) -> Scoring:
    return build_scoring(None, None, (AssertionResult.uncomputed("g-eval", error, cause),))


def run_of(scoring: Any = scored) -> AnsweredRun:
    cases = tuple(Scenario("", f"case {n}", (Message(MessageRole.USER, "?"),)) for n in range(6))
    return AnsweredRun(cases, scoring=scoring, workspace="acme")


@pytest.fixture
def run(client: Client) -> Run:
    return run_of().completed()


def reason(cause: UnscoredCause, count: int, index: int | None, example: str | None) -> dict[str, Any]:
    code, model, provider_code = cause
    own = {"code": str(code), "model": model, "providerCode": provider_code}
    return {**own, "count": count, "probeIndex": index, "example": example}


def columns(client: Client, run: Run, path: str = "results", rows: str = "columns") -> list[Any]:
    answer = client.get(f"/v1/runs/{run.id}/{path}")
    assert answer.status == 200, answer.text
    found: list[Any] = answer.json()[rows]
    return found


def test_results_have_the_causes_of_each_target(client: Client, run: Run) -> None:
    first, second = columns(client, run)
    assert first["unscored"] == 3
    assert first["unscoredReasons"] == [
        reason(SILENT, 2, 1, "<b>riddle</b> 1"),
        reason(REFUSED, 1, 2, "HTTP 401"),
    ]
    assert [each["probeIndex"] for each in second["unscoredReasons"]] == [7, 8]


def test_scores_have_them_too(client: Client, run: Run) -> None:
    assert [each["unscoredReasons"] for each in columns(client, run, "scores", "models")] == [
        each["unscoredReasons"] for each in columns(client, run)
    ]


def test_the_progress_of_a_run_has_those_that_were_read(client: Client) -> None:
    going_on = run_of().start()
    first, _ = columns(client, going_on, "progress", "targets")
    counts = {each["code"]: each["count"] for each in first["results"]["unscoredReasons"]}
    assert counts == {"judge_reply": 2, "judge_failed": 1}


def test_an_analysis_has_the_counts_without_examples(client: Client, run: Run) -> None:
    assert client.post(f"/v1/runs/{run.id}/analysis").status == 200
    figures = client.get(f"/v1/runs/{run.id}/analysis").json()["figures"]
    assert figures["columns"][0]["unscoredReasons"][0] == reason(SILENT, 2, 1, None)


def test_an_erased_conversation_is_counted_and_not_quoted(client: Client, run: Run) -> None:
    delete_probe_content("acme", f"{run.id}-1", utc_now())
    first, _ = columns(client, run)
    assert first["unscoredReasons"][0] == reason(SILENT, 2, 1, None)
    erased = outcomes.get(ref_of(run), 1)
    assert isinstance(erased, Transcript)
    assert erased.scoring is not None
    assert erased.scoring.cause == SILENT


def test_a_corrected_answer_is_scored(client: Client, run: Run) -> None:
    outcomes.set_correction(ref_of(run), 2, TranscriptResult(True))
    first, _ = columns(client, run)
    assert (first["unscored"], first["unscoredReasons"]) == (2, [reason(SILENT, 2, 1, "<b>riddle</b> 1")])


def test_a_transcript_has_the_cause_of_each_result(client: Client, run: Run) -> None:
    transcript = client.get(f"/v1/transcripts/{run.id}-2").json()
    (result,) = transcript["scoring"]["results"]
    assert (result["error"], result["cause"]) == (
        "HTTP 401",
        {"code": "judge_failed", "model": "sim/sphinx", "providerCode": "auth"},
    )
    scored_one = client.get(f"/v1/transcripts/{run.id}-0").json()
    assert scored_one["scoring"]["results"][0]["cause"] is None


def test_a_report_says_why_in_every_format(client: Client, run: Run) -> None:
    content = made(client, run)["content"]
    assert content["unscoredReasons"] == [
        {"code": "judge_reply", "model": "sim/sphinx", "providerCode": None, "probes": 4},
        {"code": "judge_failed", "model": "sim/sphinx", "providerCode": "auth", "probes": 2},
    ]
    assert (
        "6 of 12 conversations could not be scored: the judge gave no usable reply (judge_reply, sim/sphinx): 4; "
        "the call of the judge failed (judge_failed, sim/sphinx, auth): 2." in content["notes"]
    )
    assert "A rescore grades the stored conversations again, with the same judge or another one." in content["notes"]
    for name in ("md", "html"):
        text = newest(client, run, format=name).text
        assert "Not scored" in text
        assert "the judge gave no usable reply" in text


def test_a_report_distinguishes_no_checks_from_checks_without_a_result(client: Client) -> None:
    def notes(scoring: Any) -> str:
        return " ".join(made(client, run_of(scoring).completed())["content"]["notes"])

    unchecked, unjudged = notes(lambda _: build_scoring(None, None, ())), notes(lambda _: unscored("no", SILENT))
    assert "neither criteria nor assertions" in unchecked
    assert "neither criteria nor assertions" not in unjudged
    assert "12 of 12 conversations could not be scored" in unjudged
