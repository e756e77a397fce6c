"""The narrative of a deep analysis by a model, which is asked once for the same figures: its reply is stored."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

from cupel_core import event_loop
from cupel_core.charged_calls import charged_calls
from cupel_core.domain.analysis.model_narratives import checked_narrative
from cupel_core.domain.analysis.narrating import narrate
from cupel_core.domain.analysis.narrative_facts import facts_text, narrative_facts
from cupel_core.domain.analysis.narrative_statements import Material
from cupel_core.domain.analysis.narratives import Narrative
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.turns.spend import Spend
from cupel_core.errors import Invalid
from cupel_core.grading.grader import GraderError, GraderReply
from cupel_core.grading.narrative import PROMPT_VERSION, NarrativeReply, write_narrative
from cupel_core.messages import RunRef
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.errors import CallPostponed, CallPrevented, ProviderError, RetryLater
from cupel_core.slice_graders import slice_graders, slice_leases
from cupel_core.store import analyses, runs


def narrative_by(
    model: str, run: Run, material: Material, seconds_left: Callable[[], float], attempt: Attempt = complete
) -> Narrative:
    """What rules write, with `error`, if the model cannot be called or gives no usable reply."""
    by_rules = narrate(material)
    facts = narrative_facts(material, by_rules.facts)
    interrupted: list[Spend] = []
    try:
        reply, spend = _reply(model, run, facts_text(facts), seconds_left, attempt, interrupted)
    except (ProviderError, RetryLater, CallPrevented, CallPostponed, Invalid) as error:
        spend = error.spend if isinstance(error, GraderError) else sum(interrupted, Spend())
        why = getattr(error, "detail", "") or "there was not enough time for the call"
        return replace(_charged(by_rules, model, spend), error=why)
    return _charged(checked_narrative(reply.written(), by_rules, facts, material.all_names), model, spend)


def _charged(narrative: Narrative, model: str, spend: Spend) -> Narrative:
    return replace(narrative, model=model, calls=spend.calls, cost_usd=spend.cost_usd if spend.calls else None)


def _reply(
    model: str,
    run: Run,
    figures: str,
    seconds_left: Callable[[], float],
    attempt: Attempt,
    interrupted: list[Spend],
) -> tuple[NarrativeReply, Spend]:
    """The stored reply to these figures, or a new one, stored before anything else is done with it."""
    ref, made_from = RunRef(run.workspace, run.id), [PROMPT_VERSION, model, figures]
    key = sha256(json.dumps(made_from).encode()).hexdigest()[:24]
    stored = analyses.find_narrative(ref, key)
    if stored is not None:
        found = json.loads(stored)
        return NarrativeReply.model_validate(found["reply"]), Spend.from_json(found["spend"])
    asked = event_loop.run(_ask(model, run, figures, seconds_left, attempt, interrupted))
    runs.get(ref)  # Nothing is written of a run that was deleted meanwhile.
    document = {"reply": asked.value.model_dump(mode="json", by_alias=True), "spend": asked.spend.to_json()}
    analyses.save_narrative(ref, key, json.dumps(document).encode())
    return asked.value, asked.spend


async def _ask(
    model: str,
    run: Run,
    figures: str,
    seconds_left: Callable[[], float],
    attempt: Attempt,
    interrupted: list[Spend],
) -> GraderReply[NarrativeReply]:
    async with slice_leases(seconds_left, run.priority) as leases, charged_calls(run, attempt, seconds_left) as charged:
        graders = await asyncio.to_thread(
            slice_graders, run.workspace, GraderConfig(), (model,), seconds_left, leases, charged
        )
        return await write_narrative(graders.grader(model), figures, interrupted)
