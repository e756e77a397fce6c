"""Narratives of deep analyses by a model: what it is given, what is shown of its reply, and what that costs."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.analysis import deep_analysis, deep_requests, jobs
from cupel_core.analysis.basic import read_matrix
from cupel_core.analysis.deep.analyze import DeepInput, analyze
from cupel_core.analysis.deep_analysis import narrative_by
from cupel_core.analysis.jobs import Computation, JobOutcome
from cupel_core.analysis.tabulate import counted_inputs, read_counts
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import JobRequest
from cupel_core.domain.analysis.jobs import JobKind
from cupel_core.domain.analysis.narrating import material_of, narrate
from cupel_core.domain.analysis.narrative_statements import Material
from cupel_core.domain.analysis.narratives import Narrative, NarrativeTopic
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import TranscriptResult
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.resources.evaluation_settings import update_settings
from cupel_core.store import analyses, budgets, outcomes, queues, runs
from cupel_core.store.settings import settings
from tests.compared_runs import run_of
from tests.run_budgets import run_budget
from tests.started_runs import NOW, ref_of

pytestmark = pytest.mark.usefixtures("cloud")

MODELS = ("sim/steady", "sim/bold", "sim/contrarian")
WRITER = "openai/gpt-5-mini"
HEADLINE = "The targets agree little."


def answered(**given: Any) -> Run:
    return run_of("def_deep", "++-+-+--++++----", models=MODELS, **given)


def material(run: Run) -> Material:
    matrix = read_matrix(run, read_counts(counted_inputs(run)))
    figures = analyze(DeepInput(matrix, seed=1), lambda _: None)
    return material_of(figures, matrix, tuple(column.name for column in run.plan.columns))


def reply(*findings: tuple[str, str, list[str]], headline: str = HEADLINE, **given: Any) -> dict[str, Any]:
    """A reply with these findings (topic, text, facts); the other topics say nothing."""
    by_topic: dict[str, dict[str, Any]] = {
        topic: {"topic": topic, "text": "information unavailable", "facts": []} for topic in NarrativeTopic
    }
    by_topic |= {topic: {"topic": topic, "text": text, "facts": facts} for topic, text, facts in findings}
    body = {"headline": headline, "findings": list(by_topic.values()), "limitations": [], "nextSteps": []}
    return {**body, **given}


class Writer:
    """Replaces `complete`."""

    def __init__(self, *replies: Any) -> None:
        self.replies, self.shown = list(replies), list[str]()

    async def __call__(self, _: Account, model: str, request: ModelRequest, __: float) -> Reply:
        self.shown.append(request.messages[1].content)
        answer = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(answer, Exception):
            raise answer
        return Reply(json.dumps(answer), f"{model}-1", Usage(10, 5), "stop")


def written(run: Run, writer: Writer, seconds: float = 900.0) -> Narrative:
    return narrative_by("sim/steady", run, material(run), lambda: seconds, writer)


def text_of(narrative: Narrative, topic: NarrativeTopic) -> str:
    return next(each.text for each in narrative.findings if each.topic is topic)


def test_it_is_given_figures_and_no_conversation() -> None:
    writer = Writer(reply())
    run = answered()
    written(run, writer)
    facts = json.loads(writer.shown[0])["figures"]
    assert {"value:0", "value:1", "value:2", "alpha", "scenarios"} <= {fact["id"] for fact in facts}
    assert len(facts) <= 80
    assert len(writer.shown[0].encode()) <= 12_200
    assert "answer 1" not in writer.shown[0]


def test_findings_with_true_numbers_are_shown_with_the_figures_that_they_cite() -> None:
    run = answered()
    given = {fact.id: fact for fact in narrate(material(run)).facts}
    alpha = given["alpha"].value
    writer = Writer(reply(("agreement", f"They agree little: alpha is {alpha:.2f}.", ["alpha"]), nextSteps=["Repeat."]))
    narrative = written(run, writer)
    assert (narrative.headline, narrative.next_steps) == (HEADLINE, ("Repeat.",))
    assert text_of(narrative, NarrativeTopic.AGREEMENT) == f"They agree little: alpha is {alpha:.2f}."
    assert (narrative.dropped, narrative.error) == ((), None)
    assert (narrative.model, narrative.calls, narrative.cost_usd) == ("sim/steady", 1, 0.0)
    assert {fact_id for each in narrative.findings for fact_id in each.facts} == {each.id for each in narrative.facts}


@pytest.mark.parametrize(
    ("text", "facts", "reason"),
    [
        ("Alpha is 0.99.", ["alpha"], "says 0.99, which it does not cite"),
        ("They agree.", ["invented"], "cites invented, which is no figure"),
        ("They agree.", [], "cites 0 figures"),
    ],
)
def test_rules_write_what_the_model_invents(text: str, facts: list[str], reason: str) -> None:
    run = answered()
    narrative = written(run, Writer(reply(("agreement", text, facts), headline="99% agree.", nextSteps=["Add 77."])))
    by_rules = narrate(material(run))
    assert [(each.topic, each.reason) for each in narrative.dropped] == [(NarrativeTopic.AGREEMENT, reason)]
    assert narrative.findings == by_rules.findings
    assert (narrative.headline, narrative.next_steps) == (by_rules.headline, by_rules.next_steps)
    assert narrative.limitations == by_rules.limitations


def test_a_topic_without_a_finding_is_that_of_the_rules() -> None:
    run = answered()
    assert written(run, Writer(reply())).findings == narrate(material(run)).findings


@pytest.mark.parametrize(
    "bad",
    [
        reply(headline="word " * 26),
        reply(("agreement", "word " * 61, ["alpha"])),
        {**reply(), "findings": reply()["findings"][1:]},
        {**reply(), "findings": [*reply()["findings"][1:], reply()["findings"][1]]},
    ],
)
def test_an_unusable_reply_is_repaired_once(bad: Any) -> None:
    writer = Writer(bad, reply())
    narrative = written(answered(), writer)
    assert (narrative.headline, narrative.calls, len(writer.shown)) == (HEADLINE, 2, 2)


@pytest.mark.parametrize(
    "written_leniently",
    [
        {**reply(), "verdict": "good"},
        {**reply(), "Headline": HEADLINE},
        reply(headline=HEADLINE.replace(" ", "\n")),
    ],
)
def test_what_carries_no_text_of_a_narrative_is_not_repaired(written_leniently: Any) -> None:
    narrative = written(answered(), Writer(written_leniently))
    assert (narrative.headline, narrative.calls) == (HEADLINE, 1)


def test_a_model_without_a_usable_reply_is_paid_for_and_named() -> None:
    run = answered()
    narrative = written(run, Writer([]))
    assert (narrative.calls, "no usable reply" in (narrative.error or "")) == (2, True)
    assert narrative.findings == narrate(material(run)).findings


def test_a_model_that_fails_is_named() -> None:
    narrative = written(answered(), Writer(ProviderError(ProbeErrorCode.AUTH, "no key")))
    assert "no key" in (narrative.error or "")


def test_no_call_starts_that_might_not_end() -> None:
    writer = Writer(reply())
    assert "no call to sim may start now" in (written(answered(), writer, seconds=1.0).error or "")
    assert writer.shown == []


def test_the_same_figures_are_paid_for_once() -> None:
    run, writer = answered(), Writer(reply())
    first, second = written(run, writer), written(run, writer)
    assert (first, len(writer.shown)) == (second, 1)


def test_it_is_charged_to_the_budget_of_the_run() -> None:
    accounts.update_provider("acme", "sim", {"prices": (ModelPrice(None, 1_000.0, 1_000.0),)})
    run = answered(budget=run_budget(1_000.0))
    assert written(run, Writer(reply())).cost_usd == pytest.approx(0.015)
    account = budgets.get(ref_of(run))
    assert (account.used, account.reserved, account.leases) == (15_000_000, 0, {})


def test_a_call_that_the_budget_does_not_allow_is_not_made() -> None:
    accounts.update_provider("acme", "sim", {"prices": (ModelPrice(None, 1_000.0, 1_000.0),)})
    writer = Writer(reply())
    narrative = written(answered(budget=run_budget(0.01)), writer)
    assert "the budget of $0.01 is used up" in (narrative.error or "")
    assert writer.shown == []


def test_nothing_is_stored_of_a_run_that_is_deleted_meanwhile() -> None:
    run = answered()
    made = material(run)

    class Deleting(Writer):
        async def __call__(self, *given: Any) -> Reply:
            runs.delete(ref_of(run), NOW, erase_from=NOW)
            return await super().__call__(*given)

    with pytest.raises(NotFound):
        narrative_by("sim/steady", run, made, lambda: 900.0, Deleting(reply()))


@pytest.fixture
def writer() -> Writer:
    """Of the workspace."""
    accounts.update_provider("acme", "openai", {"api_key": "key"})
    update_settings("acme", {"analysis_model": WRITER})
    return Writer(reply())


def carry_out(writer: Writer) -> list[JobOutcome]:
    computation = Computation(partial(deep_analysis.compute, attempt=writer), deep_analysis.fail, deep_analysis.STAGES)
    deliveries = queues.receive(settings().analyze_queue_url, 10)
    queues.delete(deliveries)
    requests = [JobRequest.model_validate_json(each.body) for each in deliveries]
    return [jobs.run_job(each, 900.0, {JobKind.DEEP_ANALYSIS: computation}) for each in requests]


def request(run: Run, minutes: int = 0, **given: Any) -> deep_requests.RequestedDeepAnalysis:
    return deep_requests.request("acme", run.id, None, NOW + timedelta(minutes=minutes), **{"force": False, **given})


def narrative_of(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(analyses.read_document(newest(run)))["narrative"]
    return found


def newest(run: Run) -> AnalysisRecord:
    found = analyses.find_newest(ref_of(run), None, AnalysisKind.DEEP)
    assert found is not None
    return found


def test_the_model_of_the_workspace_writes_it(writer: Writer) -> None:
    run = answered()
    request(run)
    assert carry_out(writer) == [JobOutcome.COMPLETED]
    assert (narrative_of(run)["headline"], narrative_of(run)["model"], newest(run).narrator) == (
        HEADLINE,
        WRITER,
        WRITER,
    )
    assert request(run).record == newest(run)


def test_it_is_not_asked_if_none_is_wanted(writer: Writer) -> None:
    run = answered()
    request(run, narrative=False)
    carry_out(writer)
    assert (narrative_of(run)["model"], writer.shown, newest(run).narrator) == (None, [], None)
    assert request(run, narrative=False).record == newest(run)
    assert request(run, minutes=1).job is not None
    carry_out(writer)
    assert narrative_of(run)["model"] == WRITER


def test_a_simulated_model_is_not_asked(writer: Writer) -> None:
    update_settings("acme", {"analysis_model": "sim/steady"})
    run = answered()
    request(run)
    carry_out(writer)
    assert (narrative_of(run)["model"], writer.shown) == (None, [])


def test_forced_analyses_and_removed_corrections_are_not_paid_for_again(writer: Writer) -> None:
    run = answered()
    request(run)
    carry_out(writer)
    request(run, minutes=1, force=True)
    carry_out(writer)
    outcomes.set_correction(ref_of(run), 1, TranscriptResult(True))
    outcomes.set_correction(ref_of(run), 1, None)
    request(run, minutes=2)
    carry_out(writer)
    assert (len(writer.shown), narrative_of(run)["headline"], newest(run).narrator) == (1, HEADLINE, WRITER)


def test_after_a_crash_the_model_is_not_asked_again(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    run = answered()
    job = request(run).job
    assert job is not None
    with monkeypatch.context() as broken:
        broken.setattr(analyses, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            deep_analysis.compute(job, lambda _: None, attempt=writer)
    deep_analysis.compute(job, lambda _: None, attempt=writer)
    assert (len(writer.shown), narrative_of(run)["headline"]) == (1, HEADLINE)


def test_a_model_that_failed_is_asked_by_the_next_request(writer: Writer) -> None:
    run = answered()
    request(run)
    carry_out(Writer(ProviderError(ProbeErrorCode.AUTH, "no key")))
    assert "no key" in narrative_of(run)["error"]
    assert request(run, minutes=1).job is not None
    carry_out(writer)
    assert (narrative_of(run)["headline"], narrative_of(run)["error"]) == (HEADLINE, None)
