"""The contests of a run's targets: each is held once, by whoever needs its outcome first."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.decisions import last_answer
from cupel_core.domain.scoring.selections import Contest, contested, result_of, rivals
from cupel_core.domain.turns.conversation import Spend
from cupel_core.grading.graders import Panel
from cupel_core.messages import RunRef
from cupel_core.scoring.selection import compare_answers
from cupel_core.store import outcomes, selections


class Compared(NamedTuple):
    """What the contests of a transcript mean for it; the spend is told at one of the entrants alone."""

    results: tuple[AssertionResult, ...] = ()
    spend: Spend = Spend()


@dataclass
class Contests:
    """Of one scoring of a run."""

    ref: RunRef
    plan: Plan
    scoring: str
    generation: int
    panel: Panel
    _locks: defaultdict[tuple[int, int], asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    _known: dict[tuple[int, int], Contest] = field(default_factory=dict)

    async def compared(
        self, transcript: Transcript, assertions: Sequence[Assertion], variables: Mapping[str, Any]
    ) -> Compared:
        """TimeIsUp passes through; a judge that fails leaves results with an error."""
        results, spend = [], Spend()
        for number, assertion in enumerate(contested(assertions)):
            contest = await self._contest(transcript, number, assertion, variables)
            results.append(result_of(contest, assertion, transcript.probe_index))
            if contest.payer == transcript.probe_index:
                spend += contest.spend
        return Compared(tuple(results), spend)

    async def _contest(
        self, transcript: Transcript, number: int, assertion: Assertion, variables: Mapping[str, Any]
    ) -> Contest:
        among = rivals(self.plan, transcript.probe_index)
        key = among[0], number
        async with self._locks[key]:
            if key not in self._known:
                stored = await asyncio.to_thread(selections.get, self.ref, self.scoring, *key)
                if stored is None or stored.generation < self.generation:
                    stored = await self._hold(key, stored, among, assertion, variables)
                self._known[key] = stored
            return self._known[key]

    async def _hold(
        self,
        key: tuple[int, int],
        before: Contest | None,
        among: Sequence[int],
        assertion: Assertion,
        variables: Mapping[str, Any],
    ) -> Contest:
        entrants = await asyncio.to_thread(self._entrants, among)
        answers = {each.probe_index: last_answer(each.messages) for each in entrants}
        if before is not None and before.error is None and before.entrants == tuple(answers):
            held = replace(before, generation=self.generation)
        else:
            held = await compare_answers(answers, assertion, variables, self.panel, self.generation)
        return await asyncio.to_thread(selections.put, self.ref, self.scoring, *key, held, _expiry(entrants))

    def _entrants(self, among: Sequence[int]) -> list[Transcript]:
        """Those that completed by this generation, and whose content is still there, ascending."""
        found = outcomes.get_many(self.ref, among)
        held = [found[index] for index in among if index in found]
        completed = [each for each in held if isinstance(each, Transcript) and each.generation <= self.generation]
        return [each for each in completed if each.messages]


def _expiry(entrants: Sequence[Transcript]) -> datetime | None:
    """With the first of the conversations from which the judge quotes."""
    return min((each.content_expires_at for each in entrants if each.content_expires_at), default=None)
