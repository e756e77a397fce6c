"""The narrative of a deep analysis by a model, which is asked once for the same figures: its reply is stored."""

import asyncio
import json
from collections.abc import Callable
from hashlib import sha256

from cupel_core.base import event_loop
from cupel_core.base.messages import RunRef
from cupel_core.budgets.charged_calls import charged_calls
from cupel_core.budgets.slice_graders import slice_graders, slice_leases
from cupel_core.domain.analysis.narrative_statements import Material
from cupel_core.domain.analysis.narratives import Narrative
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.completion import Attempt, complete
from cupel_core.scoring.grading.grader import GraderReply
from cupel_core.scoring.grading.narrative import (
    PROMPT_VERSION,
    UNWRITTEN,
    NarrativeDraft,
    NarrativeReply,
    write_narrative,
)
from cupel_core.store import analyses, runs


def narrative_by(
    model: str, run: Run, material: Material, seconds_left: Callable[[], float], attempt: Attempt = complete
) -> Narrative:
    """What rules write, with `error`, if the model cannot be called or gives no usable reply."""
    draft = NarrativeDraft.of(model, material)
    interrupted: list[Spend] = []
    try:
        reply, spend = _reply(model, run, draft.figures, seconds_left, attempt, interrupted)
    except UNWRITTEN as error:
        return draft.without_reply(error, interrupted)
    return draft.with_reply(reply, spend)


def _reply(
    model: str,
    run: Run,
    figures: str,
    seconds_left: Callable[[], float],
    attempt: Attempt,
    interrupted: list[Spend],
) -> tuple[NarrativeReply, Spend]:
    """The stored reply to these figures, or a new one."""
    ref, made_from = RunRef(run.workspace, run.id), [PROMPT_VERSION, model, figures]
    key = sha256(json.dumps(made_from).encode()).hexdigest()[:24]
    stored = analyses.find_narrative(ref, key)
    if stored is not None:
        found = json.loads(stored)
        return NarrativeReply.model_validate(found["reply"]), Spend.from_json(found["spend"])
    asked = event_loop.run(_ask(model, run, figures, key, seconds_left, attempt, interrupted))
    return asked.value, asked.spend


def _store(run: Run, key: str, asked: GraderReply[NarrativeReply]) -> None:
    ref = RunRef(run.workspace, run.id)
    runs.get(ref)  # Nothing is written of a run that was deleted meanwhile.
    document = {"reply": asked.value.model_dump(mode="json", by_alias=True), "spend": asked.spend.to_json()}
    analyses.save_narrative(ref, key, json.dumps(document).encode())


async def _ask(
    model: str,
    run: Run,
    figures: str,
    key: str,
    seconds_left: Callable[[], float],
    attempt: Attempt,
    interrupted: list[Spend],
) -> GraderReply[NarrativeReply]:
    """A new reply. It is stored before its budget is settled, so that nothing that fails then has it paid for again."""
    async with (
        slice_leases(seconds_left, run.priority) as leases,
        charged_calls(run, attempt, seconds_left, leases) as charged,
    ):
        graders = await asyncio.to_thread(
            slice_graders, run.workspace, GraderConfig(), (model,), seconds_left, leases, charged
        )
        asked = await write_narrative(graders.grader(model), figures, interrupted)
        await asyncio.to_thread(_store, run, key, asked)
    return asked
