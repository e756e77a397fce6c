"""Reports over HTTP."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from analyze import app as analyze
from cupel_core.analysis.reports import requests
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import NotFound
from cupel_core.domain.budgets.account import BudgetReport
from cupel_core.domain.conversations.model_request import Message, MessageRole, Usage
from cupel_core.domain.conversations.replies import ReplyRecord
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.spend import ModelCalls, Spend
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.reports.records import ReportRecord
from cupel_core.domain.runs.run import Action, Run, RunEventType
from cupel_core.domain.runs.transcripts import Transcript, TranscriptResult
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.default_evaluators import EvaluatorName, EvaluatorStatus
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.runs.erasure import delete_probe_content, delete_run
from cupel_core.store import budgets, events, jobs, outcomes, reports, run_items, runs
from tests.answered_runs import AnsweredRun
from tests.lambda_context import Context
from tests.run_budgets import run_budget
from tests.started_runs import NOW, RunSetup, ref_of
from tests.unit.api.client import Answer, Client

HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) ``` ![i](http://evil.example/i.png)\x1b[31m \"'&"


def scored(index: int) -> Scoring:
    passed = index % 4 != 0
    tag = None if passed else ("REFUSAL" if index % 8 else "GOAL_MISS")
    result = AssertionResult("not-is-refusal", passed, float(passed), HOSTILE, tag=tag)
    judged = AssertionResult("llm-rubric", True, None, "r", 0.0, metric="toxicity")
    if index % 5 == 0:
        judged = replace(judged, passed=None, cause=UnscoredCause(UnscoredCode.JUDGE_REPLY))
    return build_scoring(None, None, (result, judged))


def answered(**changes: Any) -> AnsweredRun:
    cases = tuple(Scenario("", f"case {n}", (Message(MessageRole.USER, "?"),)) for n in range(6))
    fields = {"scenarios": cases, "repeats": 4, "scoring": scored, "workspace": "acme", **changes}
    return AnsweredRun(answer=lambda index: None if index == 7 else f"{HOSTILE} {index}", **fields)


@pytest.fixture
def completed(client: Client) -> Run:
    return answered().completed()


def _crash(*_: object) -> None:
    raise RuntimeError("the worker was stopped here")


def carry_out_and_fail() -> None:
    """A worker that is stopped: its message is redelivered."""
    assert len(_worker_result()["batchItemFailures"]) == 1


def carry_out() -> None:
    """What the queue's worker does."""
    assert _worker_result() == {"batchItemFailures": []}


def _worker_result() -> Any:
    requested = [each.request.model_dump_json(by_alias=True) for each in jobs.list_open()]
    records = [{"messageId": str(n), "body": body, "eventSource": "aws:sqs"} for n, body in enumerate(requested)]
    return analyze.handler({"Records": records}, Context())


def made(client: Client, run: Run) -> dict[str, Any]:
    answer = client.post(f"/v1/runs/{run.id}/reports")
    assert answer.status == 202, answer.text
    carry_out()
    report: dict[str, Any] = client.get(f"/v1/runs/{run.id}/reports/{answer.json()['id']}").json()
    assert report["status"] == "COMPLETED", report
    return report


def newest(client: Client, run: Run, **query: str) -> Answer:
    return client.get(f"/v1/runs/{run.id}/report", query=query)


def test_figures_are_those_of_the_analysis(client: Client, completed: Run) -> None:
    content = made(client, completed)["content"]
    client.post(f"/v1/runs/{completed.id}/analysis")
    figures = client.get(f"/v1/runs/{completed.id}/analysis").json()["figures"]
    assert content["overall"]["winRate"] == figures["overall"]["passRate"]
    assert [each["figures"]["winRate"] for each in content["columns"]] == [
        each["estimate"]["passRate"] for each in figures["columns"]
    ]
    assert (content["overall"]["completed"], content["overall"]["errored"], content["probes"]) == (47, 1, 48)


@dataclass
class TwoAnswers(AnsweredRun):
    """Each conversation has two answers, of 100 and of 300 ms; a judge was asked in between."""

    def outcome(self, run: Run, index: int) -> Any:
        outcome = super().outcome(run, index)
        if not isinstance(outcome, Transcript):
            return outcome
        answers = (Message(MessageRole.ASSISTANT, "Which?"), Message(MessageRole.USER, "Both."))
        conversation = replace(
            outcome.conversation,
            messages=(outcome.messages[0], *answers, outcome.messages[-1]),
            turns=2,
            duration_ms=400,
            usage=Usage(30, 12),
            replies=(ReplyRecord(Usage(10, 5), 100, 0.0), ReplyRecord(Usage(20, 7), 300, 0.0)),
            judge_spend=Spend(2, Usage(50, 8), 0.0),
        )
        return replace(outcome, conversation=conversation)


def test_answers_have_their_own_times_and_graders_their_tokens(client: Client) -> None:
    overall = made(client, TwoAnswers(answer=lambda _: "Yes.", workspace="acme").completed())["content"]["overall"]
    assert (overall["meanTurnMs"], overall["turnMs"]["mean"], overall["turnMs"]["max"]) == (200, 200, 300)
    assert (overall["durationMs"]["mean"], overall["tokens"]["mean"]) == (400, 42)
    judge = next(each for each in overall["costs"] if each["role"] == "judge")
    assert judge["inputTokens"] == 50 * overall["completed"]
    markdown = client.get(f"/v1/runs/{client.get('/v1/runs').json()['items'][0]['id']}/report", query={"format": "md"})
    assert "turn mean | p95 | max" in markdown.text
    assert "## Tokens of other models" in markdown.text


class WithoutPrices(AnsweredRun):
    """Its target has no price; of its judges, `custom/judge` has none and `sim/bold` is free."""

    def outcome(self, run: Run, index: int) -> Any:
        outcome = super().outcome(run, index)
        assert isinstance(outcome, Transcript)
        cost = None if outcome.model_id.startswith("custom/") else 0.0
        used = {"custom/judge": ModelCalls(2), "sim/bold": ModelCalls(1)}
        spend = Spend(3, Usage(5, 5), None, models=used)
        return replace(outcome, conversation=replace(outcome.conversation, cost_usd=cost, judge_spend=spend))


def test_models_without_a_price_are_named_in_every_format(client: Client) -> None:
    client.put("/v1/providers/custom", {"baseUrl": "http://127.0.0.1:1/v1"})
    run = WithoutPrices(models=("custom/<b>", "sim/steady"), repeats=4, workspace="acme").completed()
    cost = made(client, run)["content"]["cost"]
    assert (cost["usd"], cost["pricedUsd"]) == (None, 0.0)
    assert cost["unpriced"] == [
        {"model": "custom/<b>", "roles": ["target"], "calls": 4},
        {"model": "custom/judge", "roles": ["judge"], "calls": 16},
    ]
    assert "| all | – | – |" in newest(client, run, format="md").text
    for text_format in ("md", "html"):
        text = html.unescape(newest(client, run, format=text_format).text).replace("\\", "")
        assert "What was spent is unknown; there is no estimate to compare it with." in text
        assert "Not in the cost, because their price is unknown: custom/<b> (target, 4 calls); " in text
        assert "custom/judge (judge, 16 calls)" in text


def test_failure_modes_have_samples(client: Client, completed: Run) -> None:
    modes = made(client, completed)["content"]["topFailureModes"]
    assert [(mode["tag"], mode["count"]) for mode in modes] == [("GOAL_MISS", 6), ("REFUSAL", 6)]
    assert modes[0]["share"] == pytest.approx(6 / 47)
    indexes = [int(each.rpartition("-")[2]) for each in modes[0]["sampleConversationIds"]]
    assert len(indexes) == 5
    assert all(index % 8 == 0 for index in indexes)


def test_assertions_are_counted_by_name(client: Client, completed: Run) -> None:
    stats = {each["name"]: each for each in made(client, completed)["content"]["judgeStats"]}
    assert [stats["not-is-refusal"][name] for name in ("passed", "failed", "errors")] == [35, 12, 0]
    assert [stats["toxicity"][name] for name in ("passed", "failed", "errors")] == [37, 0, 10]


def test_corrections_are_compared_with_the_run(client: Client, completed: Run) -> None:
    outcomes.set_correction(ref_of(completed), 1, TranscriptResult(success=False))
    [agreement] = made(client, completed)["content"]["graderAgreement"]
    assert (agreement["first"], agreement["second"], agreement["conversations"]) == ("run", "corrections", 1)
    assert (agreement["agreement"], "fewer than 30" in agreement["note"]) == (0.0, True)


def test_the_same_outcomes_have_one_report(client: Client, completed: Run) -> None:
    first = made(client, completed)
    again = client.post(f"/v1/runs/{completed.id}/reports")
    assert (again.status, again.json()["id"]) == (200, first["id"])
    assert len(client.get(f"/v1/runs/{completed.id}/reports").json()["items"]) == 1


def test_other_outcomes_make_it_stale(client: Client, completed: Run) -> None:
    assert made(client, completed)["isStale"] is False
    outcomes.set_correction(ref_of(completed), 1, TranscriptResult(success=False))
    assert newest(client, completed).json()["isStale"] is True
    second = made(client, completed)
    assert newest(client, completed).json()["id"] == second["id"]


def test_conversations_are_listed_by_page(client: Client, completed: Run) -> None:
    report = made(client, completed)
    path = f"/v1/runs/{completed.id}/reports/{report['id']}/conversations"
    first = client.get(path, query={"limit": 30}).json()
    second = client.get(path, query={"limit": 30, "cursor": first["nextCursor"]}).json()
    listed = [*first["items"], *second["items"]]
    assert (len(listed), second["nextCursor"]) == (47, None)
    assert listed == report["content"]["conversations"]
    assert listed[0]["failureTags"] == ["GOAL_MISS"]
    assert listed[0]["assertionResults"] == {"not-is-refusal": False, "toxicity": None}


def test_a_run_that_goes_on_has_no_report(client: Client) -> None:
    run = RunSetup(workspace="acme").start()
    assert client.post(f"/v1/runs/{run.id}/reports").status == 409
    missing = newest(client, run)
    assert missing.status == 404


def test_a_missing_report_names_the_request_that_makes_one(client: Client, completed: Run) -> None:
    answer = newest(client, completed)
    assert (answer.status, f"POST /v1/runs/{completed.id}/reports" in answer.text) == (404, True)


@pytest.mark.parametrize(
    ("accept", "query", "kind"),
    [
        ("text/html,application/xhtml+xml", {}, "text/html"),
        ("text/markdown", {}, "text/markdown"),
        ("*/*", {}, "application/json"),
        ("text/html", {"format": "json"}, "application/json"),
        ("application/json", {"format": "html"}, "text/html"),
    ],
)
def test_the_format_is_chosen(client: Client, completed: Run, accept: str, query: dict[str, str], kind: str) -> None:
    made(client, completed)
    answer = client.get(f"/v1/runs/{completed.id}/report", headers={"Accept": accept}, query=query)
    assert answer.headers["Content-Type"].startswith(kind)


def test_answers_are_inert_in_html(client: Client, completed: Run) -> None:
    made(client, completed)
    answer = newest(client, completed, format="html")
    assert "script-src" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    html = answer.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script" not in html
    assert "\x1b" not in html
    assert "<img" not in html
    assert "http://evil.example/i.png)" in html


def test_answers_are_inert_in_markdown(client: Client, completed: Run) -> None:
    made(client, completed)
    text = newest(client, completed, format="md").text
    assert "\x1b" not in text
    fence = None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = line.removesuffix("text") if fence is None else (None if line == fence else fence)
        elif fence is None:
            assert "<script" not in line
            assert not re.search(r"(?<!\\)\]\(", line)
    assert fence is None


def test_a_run_without_a_completed_probe_has_a_report(client: Client) -> None:
    run = AnsweredRun(answer=lambda _: None, workspace="acme").start()
    failed = runs.transition(ref_of(run), Action.FAIL, NOW, completed_at=NOW)
    content = made(client, failed)["content"]
    assert content["notes"][0].startswith("No conversation has completed")
    assert content["overall"]["winRate"]["share"] is None
    assert [each["code"] for each in content["errors"]] == ["timeout"]
    for kind in ("html", "md"):
        assert newest(client, failed, format=kind).status == 200


def test_a_run_without_judging_says_so(client: Client) -> None:
    run = answered(scoring=lambda _: None).completed()
    report = made(client, run)
    assert report["content"]["notes"][0].startswith("No conversation was judged")
    assert report["content"]["topFailureModes"] == []
    assert newest(client, run, format="html").status == 200


def test_a_thousand_failure_tags_are_bounded(client: Client) -> None:
    def many(index: int) -> Scoring:
        results = [AssertionResult(f"t{n}", False, 0.0, "x" * 999, tag=f"TAG_{index}_{n}<b>") for n in range(30)]
        return build_scoring(None, None, tuple(results))

    run = answered(scoring=many).completed()
    report = made(client, run)
    assert len(report["content"]["topFailureModes"]) == 20
    assert report["content"]["failureTags"] == 1_000
    assert max(len(each["failureTags"]) for each in report["content"]["conversations"]) == 20
    html = newest(client, run, format="html").text
    assert "<b>" not in html
    assert len(html) < 1_000_000


def test_evaluators_that_did_not_run_are_named(client: Client) -> None:
    run = answered().completed()
    evaluators = dict.fromkeys((EvaluatorName.GOAL, EvaluatorName.TOXICITY), EvaluatorStatus.NO_JUDGE)
    run_items.to_item(replace(run, evaluators=evaluators)).save()
    notes = made(client, run)["content"]["notes"]
    assert notes[:2] == [f"The evaluator {name} did not run: the run has no judge." for name in ("goal", "toxicity")]


def test_deleting_a_conversation_deletes_the_texts(client: Client, completed: Run) -> None:
    report = made(client, completed)
    assert report["texts"]["excerpts"]
    delete_probe_content("acme", f"{completed.id}-1", NOW)
    after = client.get(f"/v1/runs/{completed.id}/reports/{report['id']}").json()
    assert (after["texts"], after["content"]) == (None, report["content"])
    assert newest(client, completed, format="html").status == 200


def test_expired_texts_are_not_shown(client: Client) -> None:
    run = answered(expires_at=utc_now() + timedelta(hours=1)).completed()
    report = made(client, run)
    assert report["texts"]["excerpts"]
    record = reports.get(ref_of(run), report["id"])
    later = utc_now() + timedelta(hours=2)
    assert requests.get("acme", run.id, record.id, later).texts is None


def summarizer_of(client: Client, run: Run, **body: Any) -> str | None:
    answer = client.post(f"/v1/runs/{run.id}/reports", body)
    assert answer.status in (200, 202), answer.text
    model: str | None = answer.json()["summarizerModel"]
    return model


def test_the_summarizer_is_that_of_the_request_the_run_the_workspace_or_the_judge(client: Client) -> None:
    run = answered(grader_config=GraderConfig("sim/steady", summarizer_model="sim/contrarian")).completed()
    plain = answered(grader_config=GraderConfig("sim/steady")).completed()
    assert summarizer_of(client, plain) == "sim/steady"
    client.put("/v1/settings", {"summarizerModel": "sim/bold"})
    assert summarizer_of(client, run, summarizerModel="sim/echo") == "sim/echo"
    assert summarizer_of(client, run, summarizerModel=None) is None
    assert summarizer_of(client, run) == "sim/contrarian"
    assert summarizer_of(client, plain) == "sim/bold"
    assert summarizer_of(client, answered(grader_config=GraderConfig()).completed()) == "sim/bold"


def test_a_run_without_any_model_has_a_report_without_a_summary(client: Client) -> None:
    assert summarizer_of(client, answered(grader_config=GraderConfig()).completed()) is None


def test_the_report_of_a_start_has_the_model_that_the_start_has_estimated(client: Client) -> None:
    client.put("/v1/settings", {"summarizerModel": "sim/bold"})
    for config, model in (
        (GraderConfig("sim/steady", summarizer_model="sim/contrarian"), "sim/contrarian"),
        (GraderConfig("sim/steady"), "sim/steady"),
    ):
        run = answered(grader_config=config).completed()
        run_items.to_item(replace(run, report=True)).save()
        requests.request_if_wanted(ref_of(run), NOW)
        assert [each.summarizer_model for each in reports.list_all(ref_of(run))] == [model]


def test_a_default_summarizer_that_cannot_be_called_is_named(client: Client, completed: Run) -> None:
    client.put("/v1/settings", {"summarizerModel": "openai/gpt-5-mini"})
    refused = client.post(f"/v1/runs/{completed.id}/reports")
    assert (refused.status, refused.fields()) == (422, ["summarizerModel"])


def test_a_completed_run_is_reported_if_it_asked_for_it(client: Client, completed: Run) -> None:
    requests.request_if_wanted(ref_of(completed), NOW)
    assert reports.list_all(ref_of(completed)) == []
    run_items.to_item(replace(completed, report=True)).save()
    requests.request_if_wanted(ref_of(completed), NOW)
    carry_out()
    assert newest(client, completed).status == 200


def test_a_run_that_changed_meanwhile_fails_the_report(client: Client, completed: Run) -> None:
    report_id = client.post(f"/v1/runs/{completed.id}/reports").json()["id"]
    outcomes.set_correction(ref_of(completed), 1, TranscriptResult(success=False))
    carry_out()
    failed = client.get(f"/v1/runs/{completed.id}/reports/{report_id}").json()
    assert (failed["status"], "has changed" in failed["failure"]["why"]) == ("FAILED", True)


def report_events(run: Run) -> list[dict[str, object]]:
    return [each.data for each in events.list_after(ref_of(run), 0) if each.type is RunEventType.REPORT_FINISHED]


def test_a_report_is_an_event_of_its_run(client: Client, completed: Run) -> None:
    report = made(client, completed)
    assert report_events(completed) == [{"reportId": report["id"], "status": "COMPLETED"}]


def test_a_failed_report_is_an_event_of_its_run(client: Client, completed: Run) -> None:
    report_id = client.post(f"/v1/runs/{completed.id}/reports").json()["id"]
    outcomes.set_correction(ref_of(completed), 1, TranscriptResult(success=False))
    carry_out()
    assert report_events(completed) == [{"reportId": report_id, "status": "FAILED"}]


def test_the_event_survives_a_crash_after_the_report_was_stored(
    client: Client, completed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    report_id = client.post(f"/v1/runs/{completed.id}/reports").json()["id"]
    [job] = [each.request.job_id for each in jobs.list_open()]
    with monkeypatch.context() as crashing:
        crashing.setattr(runs, "append_event", _crash)
        carry_out_and_fail()
    assert (reports.get(ref_of(completed), report_id).status, report_events(completed)) == ("COMPLETED", [])
    carry_out()
    assert report_events(completed) == [{"reportId": report_id, "status": "COMPLETED"}]
    assert jobs.get("acme", job).status == "COMPLETED"


def test_a_run_deleted_while_its_report_is_made_fails_the_job(client: Client, completed: Run) -> None:
    client.post(f"/v1/runs/{completed.id}/reports")
    [job] = [each.request.job_id for each in jobs.list_open()]
    assert client.delete(f"/v1/runs/{completed.id}").status == 204
    carry_out()
    assert jobs.get("acme", job).status == "FAILED"


def while_storing(monkeypatch: pytest.MonkeyPatch, happens: Callable[[bytes], object]) -> None:
    """Let something happen just before the texts of a report are stored."""
    save = reports.save_texts

    def save_after(record: ReportRecord, texts: bytes) -> None:
        happens(texts)
        save(record, texts)

    monkeypatch.setattr(reports, "save_texts", save_after)


def test_a_conversation_deleted_while_the_report_is_made_is_not_quoted(
    client: Client, completed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete_quoted(texts: bytes) -> None:
        delete_probe_content("acme", json.loads(texts)["excerpts"][0]["conversation_id"], NOW)

    while_storing(monkeypatch, delete_quoted)
    report = made(client, completed)
    assert (report["texts"], report["content"]["overall"]["completed"]) == (None, 47)


def test_nothing_is_stored_of_a_run_deleted_while_its_report_is_made(
    client: Client, completed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    report_id = client.post(f"/v1/runs/{completed.id}/reports").json()["id"]
    [job] = [each.request.job_id for each in jobs.list_open()]
    while_storing(monkeypatch, lambda _: delete_run("acme", completed.id, NOW))
    carry_out()
    record = reports.get(ref_of(completed), report_id)
    assert (jobs.get("acme", job).status, reports.find_texts(record)) == ("FAILED", None)
    with pytest.raises(NotFound):
        reports.read_content(record)


def test_other_workspaces_have_no_report_of_it(client: Client, completed: Run, stranger: str) -> None:
    made(client, completed)
    for path in ("report", "reports"):
        assert client.get(f"/v1/runs/{completed.id}/{path}", token=stranger).status == 404
    assert client.post(f"/v1/runs/{completed.id}/reports", token=stranger).status == 404


def test_the_document_is_read_as_it_was_written(client: Client, completed: Run) -> None:
    report = made(client, completed)
    assert newest(client, completed).json() == report
    assert json.loads(reports.read_content(reports.get(ref_of(completed), report["id"])))["probes"] == 48


def test_a_report_says_what_was_used_of_the_budget(client: Client) -> None:
    run = answered(budget=run_budget(5.0)).completed()
    spent = BudgetReport("worker", {ModelRole.TARGET: 4 * 10**9}, 10**8, 0, 0, 0, until=10.0**11)
    budgets.report(ref_of(run), run_budget(5.0).limit, spent, NOW.timestamp())
    cost = made(client, run)["content"]["cost"]
    assert cost["budget"] == {"maxBudgetUsd": 5.0, "spentUsd": 4.0, "uncertainUsd": 0.1}
    sentence = r"Of the budget of $5.00, $4.00 was spent, and perhaps $0.10 for calls without an answer."
    assert sentence in newest(client, run, format="md").text.replace("\\", "")


def test_a_report_without_its_summary_is_made_again(client: Client) -> None:
    client.put("/v1/providers/sim", {"prices": [{"inputUsdPerMillion": 1_000, "outputUsdPerMillion": 1_000}]})
    run, summarizer = answered(budget=run_budget(0.01)).completed(), {"summarizerModel": "sim/steady"}

    def report() -> dict[str, Any]:
        found: dict[str, Any] = client.get(f"/v1/runs/{run.id}/report").json()
        return found

    assert client.post(f"/v1/runs/{run.id}/reports", summarizer).status == 202
    carry_out()
    first = report()
    assert "the budget of $0.01 is used up" in first["texts"]["summary"]["error"]
    assert client.patch(f"/v1/runs/{run.id}/budget", {"maxBudgetUsd": 1_000}).status == 200
    assert client.post(f"/v1/runs/{run.id}/reports", summarizer).status == 202
    assert client.post(f"/v1/runs/{run.id}/reports", summarizer).status == 200  # It is being made.
    carry_out()
    second = report()
    assert (second["id"], second["texts"]["summary"]["error"]) == (first["id"], None)
    assert client.post(f"/v1/runs/{run.id}/reports", summarizer).status == 200
    assert [each["status"] for each in report_events(run)] == ["COMPLETED", "COMPLETED"]


def test_a_report_without_conversations_to_read_is_not_made_again(client: Client) -> None:
    run = AnsweredRun(workspace="acme").completed()
    summarizer = {"summarizerModel": "sim/steady"}
    assert client.post(f"/v1/runs/{run.id}/reports", summarizer).status == 202
    carry_out()
    report = client.get(f"/v1/runs/{run.id}/report").json()
    assert report["texts"]["summary"]["error"] == "there is no conversation to read"
    assert client.post(f"/v1/runs/{run.id}/reports", summarizer).status == 200


def test_a_report_without_its_summary_is_not_replaced_before_its_job_has_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.put("/v1/providers/sim", {"prices": [{"inputUsdPerMillion": 1_000, "outputUsdPerMillion": 1_000}]})
    run, summarizer = answered(budget=run_budget(0.01)).completed(), {"summarizerModel": "sim/steady"}
    client.post(f"/v1/runs/{run.id}/reports", summarizer)
    monkeypatch.setattr(runs, "append_event", _crash)
    carry_out_and_fail()
    monkeypatch.undo()
    assert client.post(f"/v1/runs/{run.id}/reports", summarizer).status == 200
    carry_out()
    assert client.post(f"/v1/runs/{run.id}/reports", summarizer).status == 202


def test_a_report_of_a_run_without_a_budget_has_none(client: Client, completed: Run) -> None:
    assert made(client, completed)["content"]["cost"]["budget"] is None
    assert "budget" not in newest(client, completed, format="md").text


def test_a_report_serves_who_knows_only_names(client: Client) -> None:
    check = Assertion("contains", value="{{capital}}")
    cases = tuple(
        Scenario(
            "",
            f"Capital {number}",
            (Message(MessageRole.USER, f"What is the capital of country {number}?"),),
            metadata={"vars": {"capital": f"City {number}"}},
            assertions=(check,),
        )
        for number in range(6)
    )
    amounts = {"cost_usd": lambda index: 0.01 if index < 6 else 0.02, "duration_ms": lambda index: 100 + index % 6}
    run = answered(scenarios=cases, repeats=1, models=("sim/steady", "sim/bold"), **amounts).completed()
    content = made(client, run)["content"]
    assert {each["scenarioName"] for each in content["conversations"]} <= {case.name for case in cases}
    [difference] = content["differences"]
    assert (difference["first"], difference["second"], difference["metric"]) == ("sim/steady", "sim/bold", "PASS_RATE")
    cost, time = difference["costRatio"], difference["timeRatio"]
    assert (cost["scenarios"], cost["ratio"], cost["interval95"]) == (5, pytest.approx(0.5), None)
    assert (time["ratio"], time["adjustedP"], cost["leftOut"]) == (1.0, None, {"notCompleted": 1})
    cells = {each["scenarioName"]: each["cells"] for each in content["failedScenarios"]}
    assert cells["Capital 0"] == [{"passed": 0, "judged": 1}, {"passed": 1, "judged": 1}]
    shown = html.unescape(newest(client, run, format="html").text)
    for text in ("Capital 0", "What is the capital of country 0?", "City 0", "sim/steady less sim/bold", "0 of 1"):
        assert text in shown
    assert "−50.0%, adjusted p 0.031" in shown
    assert ">judges<" not in shown  # None was called.
