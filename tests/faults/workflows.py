"""The workflows that are run with every fault: a run, a damaged run, conversations, calls of tools, a judged eval, a
comparison, a deep analysis, a run with a budget, one with operations around its turns, and a chat.

A workflow acts only from the outside: requests, lost messages, passing time. `run` returns the finished run or chat.
"""

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.model_request import MessageRole
from cupel_core.domain.runs.run import TERMINAL, Run, RunStatus
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.store import jobs, outcomes, runs
from tests.faults.chats import FinishedChat, run_chat
from tests.faults.harness import WORKSPACE, FunctionHarness
from tests.faults.narrative import HEADLINE, NARRATOR
from tests.faults.tool_server import RESULT, ToolServer

MODEL, TOOLS_MODEL = "custom/bench", "custom/tools"
SCRIPTED_RESULT = "seen"
REWRITTEN = "Kept:\n"
RUN_OPERATIONS: list[dict[str, Any]] = [
    {
        "id": "size",
        "name": "Size of the message",
        "kind": "guard",
        "hooks": ["before_main_llm"],
        "order": 10,
        "params": {
            "engine": "rules",
            "outputs": [{"key": "isLong", "title": "It is long", "when": "user.text | length > 10"}],
        },
        "artifact": {"tag": "size", "format": "json"},
    },
    {
        "id": "gist",
        "name": "Gist of a long message",
        "kind": "llm",
        "hooks": ["before_main_llm"],
        "order": 20,
        "dependsOn": ["size"],
        "runConditions": [{"operationId": "size", "output": "isLong", "operator": "is_true"}],
        "params": {"target": {"model": MODEL}, "prompt": "The gist of: {{ user.text }}"},
        "artifact": {"tag": "gist"},
        "effects": [{"type": "prompt.append_after_last_user", "role": "system"}],
    },
    {
        "id": "kept",
        "name": "A line before the answer",
        "kind": "template",
        "required": True,
        "hooks": ["after_main_llm"],
        "order": 10,
        "params": {"template": REWRITTEN + "{{ answer.text }}"},
        "artifact": {"tag": "kept"},
        "effects": [{"type": "turn.assistant.rewrite"}],
    },
]
BUDGET_USD = 0.03
"""Enough for some of the conversations of a budgeted run: at most half of it is kept for their summaries."""
USD_PER_MILLION = 10.0
PRICE = {"model": None, "inputUsdPerMillion": USD_PER_MILLION, "outputUsdPerMillion": USD_PER_MILLION}
_MAX_SECONDS = 300
"""Only guards against a hang: a busy machine may take a minute."""
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class WorkflowContext:
    """The resources the workflows use."""

    harness: FunctionHarness
    token: str
    large: str
    """A definition of 200 scenarios."""
    conversations: str
    """A definition of six scenarios with two turns each, and a judge."""
    small: str
    """A definition of eight scenarios."""
    eval_id: str
    """An eval of six conversations with two turns, a judge and a simulated user."""
    tools: str
    """A definition of six scenarios with two calls of tools each: one is scripted, a server executes the other."""
    tool_server: ToolServer
    followed: str
    """A definition of six scenarios with two turns each."""
    chat_profile: str
    """A profile with two operations that call a model and one that does not."""
    run_profile: str
    """A profile with a guard, an operation that it skips in the second turn, and one that rewrites the answer."""

    def start_run(self, definition_id: str, *labels: str, **changes: object) -> Run:
        """Of one model, or of targets with these labels."""
        targets = {"targets": [{"model": MODEL, "label": label} for label in labels]}
        body = {"definitionId": definition_id, **(targets if labels else {"models": [MODEL]}), **changes}
        response = self.harness.request(self.token, "POST", "/v1/runs", body, key=str(uuid.uuid4()))
        return self.get_run(str(response["run"]["id"]))

    def start_eval(self) -> Run:
        response = self.harness.request(self.token, "POST", f"/v1/evals/{self.eval_id}/runs", {}, key=str(uuid.uuid4()))
        return self.get_run(str(response["run"]["id"]))

    def get_run(self, run_id: str) -> Run:
        return runs.get(RunRef(WORKSPACE, run_id))

    def run_to_end(self, run: Run, last: frozenset[RunStatus] = TERMINAL) -> Run:
        """Deliver all messages, advance time and call the sweeper until the run has one of the last statuses."""
        deadline = time.monotonic() + _MAX_SECONDS
        while time.monotonic() < deadline:
            self.harness.deliver_all()
            self.harness.wait_for_executions()
            run = self.get_run(run.id)
            if run.status in last:
                break
            self.harness.advance_time(run)
            self.harness.sweep()
            time.sleep(_POLL_SECONDS)
        self.harness.advance_time(run)
        self.harness.deliver_all()  # Late messages change nothing.
        return self.get_run(run.id)

    def compare_to_end(self, run: Run, baseline: str, other: str) -> None:
        """Compare two targets of a run."""
        sides = {
            side: {"runId": run.id, "targets": [label]}
            for side, label in (("baseline", baseline), ("comparison", other))
        }
        requested = self.harness.request(self.token, "POST", "/v1/comparisons", sides)
        self._job_to_end(run, requested["jobId"])

    def analyze_to_end(self, run: Run, *, force: bool = False) -> dict[str, Any]:
        """Analyze a run deeply; what is stored of it then."""
        path = f"/v1/runs/{run.id}/analysis"
        requested = self.harness.request(self.token, "POST", path, {"kind": "deep", "force": force})
        self._job_to_end(run, requested["jobId"])
        return self.harness.request(self.token, "GET", f"{path}/deep")

    def _job_to_end(self, run: Run, job_id: str) -> None:
        """Deliver all messages, advance time and call the sweeper until a job is over."""
        deadline = time.monotonic() + _MAX_SECONDS
        while not jobs.get(WORKSPACE, job_id).status.is_over:
            if time.monotonic() > deadline:
                raise AssertionError(f"the job {job_id} does not end")
            self.harness.deliver_all()
            self.harness.advance_time(run)
            self.harness.advance_job(job_id)
            self.harness.sweep()
        self.harness.deliver_all()  # Late messages change nothing.


def _run(context: WorkflowContext) -> Run:
    return context.run_to_end(context.start_run(context.large))


def _conversation(context: WorkflowContext) -> Run:
    return context.run_to_end(context.start_run(context.conversations))


def _judged(context: WorkflowContext) -> Run:
    return context.run_to_end(context.start_eval())


def _compared(context: WorkflowContext) -> Run:
    run = context.run_to_end(context.start_run(context.small, "first", "second"))
    context.compare_to_end(run, "first", "second")
    return context.get_run(run.id)


def _analyzed_deeply(context: WorkflowContext) -> Run:
    """With a budget. The second analysis of the same figures has the narrative that was paid for by the first."""
    budget = {"maxBudgetUsd": 10 * BUDGET_USD, "confirmedUsd": 1_000}
    run = context.run_to_end(context.start_run(context.small, "first", "second", "third", **budget))
    first, second = context.analyze_to_end(run), context.analyze_to_end(run, force=True)
    assert first["id"] != second["id"], "the analysis was not computed again"
    for analysis in (first, second):
        narrative = analysis["figures"]["narrative"]
        shown = (narrative["model"], narrative["headline"], narrative["error"])
        assert shown == (NARRATOR, HEADLINE, None), f"the narrative is {narrative}"
    return context.get_run(run.id)


def _tools(context: WorkflowContext) -> Run:
    run = context.run_to_end(context.start_run(context.tools, models=[TOOLS_MODEL]))
    for outcome in outcomes.list_outcomes(RunRef(run.workspace, run.id), range(run.plan.total)):
        assert isinstance(outcome, Transcript), f"probe {outcome.probe_index} is errored"
        results = [message.content for message in outcome.messages if message.role is MessageRole.TOOL]
        assert results == [SCRIPTED_RESULT, RESULT], f"probe {outcome.probe_index} has the results {results}"
    return run


def _damaged(context: WorkflowContext) -> Run:
    """The dispatch request is lost, one message is lost, another becomes a dead letter; errored probes are retried."""
    harness, run = context.harness, context.start_run(context.large)
    harness.purge("dispatch")
    harness.advance_time(run)
    harness.sweep()
    while harness.deliver("dispatch"):
        pass
    _lose_message(harness)
    _dead_letter_message(harness)
    harness.deliver_all()
    for _ in range(2):
        harness.sweep()
        harness.advance_time(run)
    run = context.run_to_end(run)
    if run.settled and run.settled.failed:
        harness.request(context.token, "POST", f"/v1/runs/{run.id}/retry", {})
        run = context.run_to_end(context.get_run(run.id))
    return run


def _budgeted(context: WorkflowContext) -> Run:
    """The budget is used up on the way, and raised. Summaries are paid from it, too."""
    budget = {"maxBudgetUsd": BUDGET_USD, "confirmedUsd": 1_000, "config": {"params": {"maxOutputTokens": 400}}}
    run = context.run_to_end(context.start_run(context.conversations, **budget), TERMINAL | {RunStatus.PAUSED})
    if run.status is not RunStatus.PAUSED:
        raise AssertionError(f"the run was not paused by its budget, but is {run.status}")
    path = f"/v1/runs/{run.id}/budget"
    context.harness.request(context.token, "PATCH", path, {"maxBudgetUsd": 10 * BUDGET_USD})
    return context.run_to_end(context.get_run(run.id))


def _operated(context: WorkflowContext) -> Run:
    run = context.run_to_end(context.start_run(context.followed, config={"profileId": context.run_profile}))
    for outcome in outcomes.list_outcomes(RunRef(run.workspace, run.id), range(run.plan.total)):
        assert isinstance(outcome, Transcript), f"probe {outcome.probe_index} is errored"
        answers = [message.content for message in outcome.messages if message.role is MessageRole.ASSISTANT]
        rewritten = [answer.startswith(REWRITTEN) and answer.count(REWRITTEN) == 1 for answer in answers]
        assert rewritten == [True, True], f"probe {outcome.probe_index} has the answers {answers}"
    return run


def _lose_message(harness: FunctionHarness) -> None:
    message = harness.receive("probe_custom")
    if message:
        harness.delete("probe_custom", message)


def _dead_letter_message(harness: FunctionHarness) -> None:
    """Move a message to the dead letters, as SQS does with one that was received too often."""
    message = harness.receive("probe_custom")
    if message:
        body = json.loads(message["Body"])
        harness.send_dead_letter(json.dumps(body | {"indexes": body["indexes"][:10]}))
        harness.delete("probe_custom", message)


class Workflow(NamedTuple):
    run: Callable[[WorkflowContext], Run | FinishedChat]
    functions: frozenset[str]
    """Functions whose calls are failed in this workflow."""
    calls: int
    """Number of model calls without faults."""
    executions: int = 0
    """Number of calls of tools that are executed without faults."""


WORKFLOWS = {
    "run": Workflow(_run, frozenset({"authorize", "api", "dispatch", "probe", "finish"}), 200),
    "damaged": Workflow(_damaged, frozenset({"api", "dispatch", "sweep"}), 200),
    "conversation": Workflow(_conversation, frozenset({"probe", "finish"}), 6 * 2 + 6),
    "compared": Workflow(_compared, frozenset({"api", "analyze"}), 2 * 8),
    "deep": Workflow(_analyzed_deeply, frozenset({"api", "analyze"}), 3 * 8 + 1),
    "budgeted": Workflow(_budgeted, frozenset({"api", "probe", "finish"}), 6 * 2 + 6),
    "tools": Workflow(_tools, frozenset({"probe"}), 6 * 2, executions=6),
    "operated": Workflow(_operated, frozenset({"api", "probe"}), 6 * 2 + 6),
    "chat": Workflow(run_chat, frozenset({"api", "turn", "sweep"}), 3 * 3),
    "judged": Workflow(_judged, frozenset({"api", "probe"}), 6 * (2 + 2 + 1)),
}
