"""Writes runs with outcomes to the local stack directly, as workers would have left them; no probe is run."""

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from cupel.stack.clients import make_client
from cupel.stack.emulator import Emulator
from cupel.stack.paths import REGION, STACK_NAME

WORKSPACE = "default"
MODELS = ("sim/steady", "sim/bold")
_PAGE = 20
"""A worker stores so many outcomes in one write."""
_WRITERS = 4

type TranscriptOf = Callable[[Any, int], Any]
"""Returns the transcript of a probe of a run, by its index. The core is imported late: it reads its settings from
the environment that `use_stack` makes."""


def use_stack(running: Emulator) -> None:
    function = make_client("lambda", running).get_function_configuration(FunctionName=f"{STACK_NAME}-finish")
    os.environ |= function["Environment"]["Variables"] | running.access.variables(REGION)


def write_run(definition_id: str, probes: int, transcript_of: TranscriptOf) -> str:
    """Write a run that has ended before its outcomes are written, so that nothing starts it, and return its id.

    `probes` is a multiple of 10,000.
    """
    from cupel_core.base.clock import utc_now
    from cupel_core.base.messages import RunRef
    from cupel_core.domain.runs.barrier import FANOUT
    from cupel_core.domain.runs.run import Action, Progress
    from cupel_core.domain.runs.spec import RunSpec
    from cupel_core.domain.runs.targets import plain_targets
    from cupel_core.runs.start import build_run
    from cupel_core.store import runs, snapshots

    workspace = WORKSPACE
    spec = RunSpec(definition_id, plain_targets(*MODELS), repeats=probes // 10_000)
    run, snapshot, _ = build_run(workspace, spec, utc_now())
    snapshots.save(run.snapshot_key, snapshot)
    ref = RunRef(workspace, run.id)
    runs.create(run, {"total": run.plan.total})
    runs.transition(ref, Action.START, utc_now())
    runs.transition(ref, Action.SUMMARIZE, utc_now(), settled=Progress(run.plan.total, run.plan.total))
    run = runs.transition(ref, Action.COMPLETE, utc_now(), completed_at=utc_now())
    began = time.monotonic()
    with ThreadPoolExecutor(_WRITERS) as threads:
        for _ in threads.map(partial(_write_leaf, run, transcript_of), range(-(-run.plan.total // FANOUT))):
            pass
    print(f"{run.id}: {run.plan.total:,} outcomes written in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return run.id


def _write_leaf(run: Any, transcript_of: TranscriptOf, leaf: int) -> None:
    from cupel_core.base.messages import RunRef
    from cupel_core.domain.runs.barrier import FANOUT, Node
    from cupel_core.store import barrier, outcomes
    from cupel_core.store.barrier import Tree

    first = leaf * FANOUT
    indexes = range(first, min(first + FANOUT, run.plan.total))
    made = [transcript_of(run, index) for index in indexes]
    for start in range(0, len(made), _PAGE):
        pages = outcomes.write(RunRef(run.workspace, run.id), run.fencing_token, made[start : start + _PAGE])
        barrier.record(Tree.for_run(run), Node(0, leaf), pages[leaf])


def short_transcript(run: Any, index: int) -> Any:
    """Return a short conversation with a decision; the measured programs do not read texts."""
    from cupel_core.domain.conversations.conversation import ConversationState
    from cupel_core.domain.conversations.model_request import Message, MessageRole, Usage
    from cupel_core.domain.runs.transcripts import Summary, Transcript

    probe = run.plan.probe(index)
    asked, answered = Message(MessageRole.USER, f"Case {probe.case}?"), Message(MessageRole.ASSISTANT, "Rating: 3")
    usage, duration_ms = Usage(100, 40), 40 + index % 37
    state = ConversationState((asked, answered), turns=1, usage=usage, duration_ms=duration_ms, cost_usd=0.0)
    return Transcript(
        probe_index=index,
        scenario_id=f"scn_{probe.case}",
        model_id=run.plan.columns[probe.column].target.model,
        created_at=run.created_at,
        conversation=replace(state, model_version="simulated-1"),
        summary=Summary(str((index // 7 + probe.case) % 5 + 1), "", run.created_at),
    )
