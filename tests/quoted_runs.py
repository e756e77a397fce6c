"""A run whose texts contain a marker, in every place where a feature stores what was said or quotes it."""

from dataclasses import replace
from typing import Any

from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.conversation import ConversationState, Verdict
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.transcripts import ProbeError, Summary, TranscriptResult
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.rescores import Rescore, RescoreConfig
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.runs.finishing.compare import compare_slice
from cupel_core.runs.rescoring import phases
from cupel_core.runs.rescoring.slices import rescore_slice
from cupel_core.store import attempts, barrier, checkpoints, outcomes, rescores, runs
from tests.answered_runs import AnsweredRun
from tests.recorded_outcomes import store_outcomes
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW, ref_of

MARKER = "purple-elephant"
"""Said by the target, and quoted by judges, errors, decisions and users."""
ASKED = "green-giraffe"
"""Asked by the scenario, so also part of the definition, which is not deleted with a probe."""
SHORT, LONG, ERROR = 0, 1, 2
"""Probes: a short answer, one that is stored in the bucket, and an error."""
BEST = Assertion("select-best", value="the shortest")


class QuotingJudge(ScriptedJudge):
    """A judge whose every reason quotes what it was shown."""

    def _reply(self, conversation: ModelRequest) -> dict[str, Any]:
        reply = super()._reply(conversation)
        return {name: f"it says {MARKER}" if name in ("reason", "reasoning") else reply[name] for name in reply}


def _answer(index: int) -> str | None:
    return {SHORT: f"I like the {MARKER}.", LONG: f"The {MARKER}. " * 20_000, ERROR: None}[index]


def _scoring(index: int) -> Scoring:
    verdict = Verdict(True, False, 0.8, f"it says {MARKER}", f'{{"reasoning": "{MARKER}"}}')
    result = AssertionResult("llm-rubric", True, 1.0, f"quotes {MARKER}", metric="tone")
    cause = UnscoredCause(UnscoredCode.ASSERTION)
    failed = AssertionResult.uncomputed("contains", f"cannot parse {MARKER}", cause, 0.0)
    return replace(build_scoring(None, None, (result, failed), f"the evaluator said {MARKER}"), verdict=verdict)


class _QuotedRun(AnsweredRun):
    def outcome(self, run: Run, index: int) -> Any:
        outcome = super().outcome(run, index)
        if isinstance(outcome, ProbeError):
            return replace(outcome, message=f"refused: {MARKER}", content_expires_at=self.expires_at)
        return outcome


async def quoted_run(**options: Any) -> Run:
    """COMPLETED after a retry; its probes are `SHORT`, `LONG` and `ERROR`, targets of the same case."""
    scenario = Scenario("", "one", (Message(MessageRole.USER, f"What about the {ASKED}?"),), assertions=(BEST,))
    models = ("sim/steady", "sim/bold", "sim/cold")
    quoted = _QuotedRun((scenario,), models, answer=_answer, scoring=_scoring, **options)
    run = quoted.start()
    ref = ref_of(run)
    _store_progress(ref, run.retry_round)
    runs.transition(ref, Action.SUMMARIZE, NOW, settled=None)
    runs.transition(ref, Action.COMPLETE, NOW)
    attempts.record(ref, [ERROR])
    run = runs.transition(ref, Action.REOPEN, NOW)
    _store_progress(ref, run.retry_round)
    barrier.reopen(barrier.Tree.for_run(run), Node(0, 0), [ERROR])
    again = quoted.outcome(run, ERROR)
    store_outcomes(run, run.fencing_token, [replace(again, retry_round=run.retry_round)])
    run = runs.transition(ref, Action.SUMMARIZE, NOW, settled=barrier.get_progress(barrier.Tree.for_run(runs.get(ref))))
    await compare_slice(ref, run.fencing_token, LeafRange(0, 1), lambda: 900.0, QuotingJudge())
    _store_decisions(ref)
    run = runs.transition(ref, Action.COMPLETE, NOW, completed_at=NOW)
    await _rescore(run)
    return run


def _store_progress(ref: RunRef, retry_round: int) -> None:
    for index, text in ((SHORT, MARKER), (LONG, _incompressible(MARKER)), (ERROR, MARKER)):
        state = ConversationState((Message(MessageRole.USER, ASKED), Message(MessageRole.ASSISTANT, text)))
        checkpoints.save(ref, index, retry_round, state, NOW)
    barrier.note_error(ref, Node(0, 0), f"ValueError: {MARKER}")


def _store_decisions(ref: RunRef) -> None:
    outcomes.set_summary(ref, SHORT, Summary("4", f"It prefers the {MARKER}.", NOW))
    outcomes.set_summary(ref, LONG, Summary("other", "", NOW, f"no decision in: {MARKER}"))
    outcomes.set_correction(ref, LONG, TranscriptResult(False, 0.25, f"wrong about the {MARKER}"))


async def _rescore(run: Run) -> None:
    config = RescoreConfig(assertions=(BEST, Assertion("llm-rubric", value="is polite")))
    rescores.create(Rescore(run.workspace, run.id, "rsc_1", config, 2, 3, run.retry_round, NOW))
    for part in phases.begin(ref_of(run), "rsc_1").slices:
        await rescore_slice(ref_of(run), "rsc_1", part, lambda: 900.0, QuotingJudge())
    phases.complete(ref_of(run), "rsc_1", NOW)


def _incompressible(text: str) -> str:
    """The text, and a megabyte of different characters, so that a checkpoint is stored in the bucket."""
    return text + "".join(chr(0x4E00 + (number * 7_919 + number * number) % 20_000) for number in range(300_000))
