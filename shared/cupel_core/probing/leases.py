"""A worker's part of what an account allows: what it may begin now, and what it tells the governor.

Nothing is asked per call. A share is renewed when a slice comes and every two seconds after; in between it lives on
its grant, on what it was lent of the rates, and on what it has seen itself. A share that is not renewed ends.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil
from random import Random

from cupel_core.domain.limits.breaker import Breaker, Call
from cupel_core.domain.limits.governor import Governor, Limits, Report, Seat, noted
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.turns.model_request import Conversation, Reply
from cupel_core.errors import RetryableError
from cupel_core.probing.observations import Sight
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.errors import ProviderError
from cupel_core.store import governor as store
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.governor import Stored

RENEW_SECONDS = 2.0
SOON_SECONDS = 0.2
"""Where another worker waits for what this one has; where this one waits for another, each time twice as long."""
REFILL_SECONDS = 1.0
"""Where a rate is what is waited for."""
PATIENCE_SECONDS = 3.0
"""What is held for longer goes back to the queue."""
STUCK_SECONDS = 5.0
CROWDED_SECONDS = 2.0
"""Where there are more workers of a priority than calls at a time."""
YIELD_SECONDS = 10.0
"""Until a lower priority looks again whether a higher one has left something."""
SHORTEST_PAUSE_SECONDS = 5.0
LONGEST_SECONDS = 900.0
_FIRST_GUESS_TOKENS = 1_000.0
_HABIT = 0.1
_MOST_POLLS = 4
_RANKS = {Priority.HIGH: 0, Priority.NORMAL: 1, Priority.LOW: 2}


@dataclass(frozen=True)
class Place:
    """Whose share, of which account."""

    workspace: str
    provider: str
    worker_id: str
    priority: Priority


class Share:
    """Of one account, for one worker. Calls are made through what `begin` answers, so that they are seen."""

    def __init__(
        self, place: Place, clock: Callable[[], float] = time.time, rng: Random | None = None, call: Attempt = complete
    ) -> None:
        self.running = 0
        """Conversations that were begun and have not ended."""
        self.limits = Limits(1)
        """What the account is set to, as far as known."""
        self._place = place
        self._clock = clock
        self._rng = rng or Random()  # noqa: S311 - jitter
        self._call = call
        self._stored: Stored | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._renewed_at = float("-inf")
        self._told_wanted = 0
        self._told_running: int | None = None
        """While it is not sure that a report arrived: what was in flight then is all that others are sure to leave."""
        self._polls = 0
        self._alarm = False
        self._stuck_since: float | None = None
        self._seen = Sight()
        self._breakers: dict[str, Breaker] = {}
        self._tried: set[tuple[str, float | None]] = set()
        self._tokens_per_call = _FIRST_GUESS_TOKENS

    @property
    def _governor(self) -> Governor:
        return self._stored.governor if self._stored else Governor()

    @property
    def _seat(self) -> Seat | None:
        return self._governor.seats.get(self._place.worker_id)

    # What may begin

    @property
    def slots(self) -> int:
        """How many conversations at a time it is granted."""
        seat = self._seat
        if seat is None or self._clock() >= seat.until:
            return 0
        return seat.granted if self._told_running is None else min(seat.granted, self._told_running)

    @property
    def free(self) -> int:
        """How many conversations may begin now."""
        seat = self._seat
        if seat is None or self._governor.paused_at is not None or self._blocked_until > self._clock():
            return 0
        free = self.slots - self.running
        if seat.requests is not None:
            free = min(free, seat.requests - self._seen.attempts)
        if seat.tokens is not None:
            left = seat.tokens - self._seen.tokens - self.running * self._tokens_per_call
            free = min(free, ceil(left / max(1.0, self._tokens_per_call)))
        return max(0, free)

    @property
    def _blocked_until(self) -> float:
        return max(self._governor.blocked_until, self._seen.spent_until)

    def delay(self) -> float | None:
        """After how many seconds all that waits is to come again; None where it may begin or is worth waiting for."""
        now, seat = self._clock(), self._seat
        if (paused_at := self._governor.paused_at) is not None:
            # A queue that was just paused is soon resumed; one that has been for days is asked rarely.
            return self._jittered(max(SHORTEST_PAUSE_SECONDS, (now - paused_at) / 4))
        if self._blocked_until - now > PATIENCE_SECONDS:
            return self._jittered(self._blocked_until - now)
        if seat is not None and seat.wanted and not seat.share and self._is_outranked(now):
            return self._jittered(YIELD_SECONDS)
        if self.running or self.free:
            self._stuck_since = None
            return None
        if (refill := self._refill_seconds(now)) > PATIENCE_SECONDS:
            return self._jittered(refill)
        return self._stuck(now)

    def _stuck(self, now: float) -> float | None:
        """Whoever gets nothing keeps its slice for a while: handing all on would only hide them from the others."""
        self._stuck_since = self._stuck_since or now
        if now - self._stuck_since <= STUCK_SECONDS:
            return None
        self._stuck_since = None
        return CROWDED_SECONDS

    def _jittered(self, seconds: float) -> float:
        return min(LONGEST_SECONDS, seconds + self._rng.uniform(0, CROWDED_SECONDS))

    def _is_outranked(self, now: float) -> bool:
        own = _RANKS[self._place.priority]
        return any(seat.wanted and _RANKS[seat.priority] < own for seat in self._governor.live(now).values())

    def _refill_seconds(self, now: float) -> float:
        """Until the account's rates let another call begin."""
        seat, governor, waits = self._seat, self._governor, [0.0]
        if seat and governor.requests and self.limits.requests_per_minute and not seat.requests:
            due = governor.requests.at + governor.requests.seconds_until(1, self.limits.requests_per_minute)
            waits.append(due - now)
        if seat and governor.tokens and self.limits.tokens_per_minute and not seat.tokens:
            due = governor.tokens.at + governor.tokens.seconds_until(1, self.limits.tokens_per_minute)
            waits.append(due - now)
        return max(waits)

    def held_seconds(self, model: str) -> float | None:
        """For how long a probe of this model is to be held: None for not at all, 0 until the share is renewed."""
        breaker, now = self._breakers.get(model), self._clock()
        if breaker is None or not breaker.is_open:
            return None
        if now >= breaker.until:
            if breaker.trial_of == self._place.worker_id and (model, breaker.opened_at) not in self._tried:
                return None
            if breaker.trial_of is None or now >= breaker.trial_until:
                return 0.0
        return self._jittered(breaker.held_seconds(now))

    # What is begun

    def begin(self, model: str) -> Attempt:
        """Counts a conversation in; the answer makes its calls."""
        self.running += 1
        self._seen.attempts += 1
        breaker = self._breakers.get(model)
        if breaker is not None and breaker.is_open:
            self._tried.add((model, breaker.opened_at))
        return partial(self._attempt, iter([True]))

    def end(self) -> None:
        self.running -= 1

    async def _attempt(
        self, first: Iterator[bool], account: Account, model: str, conversation: Conversation, timeout_seconds: float
    ) -> Reply:
        """The first call of a conversation was counted when that began."""
        self._seen.attempts += not next(first, False)
        began_at = self._clock()
        try:
            reply = await self._call(account, model, conversation, timeout_seconds)
        except ProviderError as error:
            self._note(Call(model, error.code, began_at), error.retry_after)
            raise
        self._note(Call(model, None, began_at))
        self._note_use(reply)
        return reply

    def _note(self, call: Call, retry_after: float | None = None) -> None:
        now = self._clock()
        self._seen.note(call, now, retry_after)
        was_open = self._is_open(call.model)
        if call.code is not None or call.model in self._breakers:
            self._breakers = noted(self._breakers, [call], now)
        self._alarm |= self._is_open(call.model) != was_open

    def _is_open(self, model: str) -> bool:
        return model in self._breakers and self._breakers[model].is_open

    def _note_use(self, reply: Reply) -> None:
        self._seen.tokens += reply.usage.total
        self._tokens_per_call += _HABIT * (reply.usage.total - self._tokens_per_call)
        if reply.limits is not None:
            self._seen.spent_until = max(self._seen.spent_until, self._clock() + reply.limits.wait_seconds)
            self._alarm = True

    # What is told

    def is_due(self, wanted: int) -> bool:
        """Whether it is time to renew, when so many conversations could be in flight."""
        is_idle = not wanted and not self._told_wanted
        if is_idle or (self._renewal is not None and not self._renewal.done()):
            return False
        since, seat = self._clock() - self._renewed_at, self._seat
        if seat is None or since >= RENEW_SECONDS or since < SOON_SECONDS:
            return since >= SOON_SECONDS
        if seat.granted < seat.share:
            return since >= SOON_SECONDS * (1 << self._polls)
        could_have_more = wanted > self._told_wanted and seat.granted == seat.wanted
        has_given_up = seat.held > seat.granted >= self.running
        waits_for_rate = wanted > self.running < self.slots and not self.free and since >= REFILL_SECONDS
        return could_have_more or has_given_up or waits_for_rate or self._alarm

    def renew(self, wanted: int, models: frozenset[str]) -> "asyncio.Task[None]":
        """Begins to tell the governor. `models` have probes waiting: one of them may be a breaker's trial."""
        report = self._report(wanted, models)
        self._renewed_at, self._told_wanted, self._told_running = self._clock(), report.wanted, report.in_flight
        self._alarm = False
        self._renewal = asyncio.ensure_future(self._renew(report))
        return self._renewal

    async def _renew(self, report: Report) -> None:
        """A report that may not have arrived is told again with the next."""
        place = self._place
        try:
            self._stored = await asyncio.to_thread(
                store.renew, place.workspace, place.provider, self.limits, report, self._renewed_at, self._stored
            )
        except (*AWS_ERRORS, RetryableError):
            return
        self._told_running = None
        self._seen.forget(len(report.calls), report.attempts, report.tokens)
        self._breakers = noted(self._governor.breakers, self._seen.calls, self._clock())
        seat = self._seat
        self._polls = min(_MOST_POLLS, self._polls + 1) if seat and seat.granted < seat.share else 0

    async def leave(self) -> None:
        """Gives the share back, so that nobody waits for its end."""
        if self._renewal is not None:
            await self._renewal
        report, place = self._report(0, frozenset()), self._place
        try:
            await asyncio.to_thread(
                store.leave, place.workspace, place.provider, self.limits, report, self._clock(), self._stored
            )
        except (*AWS_ERRORS, RetryableError):
            return

    def _report(self, wanted: int, models: frozenset[str]) -> Report:
        seen = self._seen
        return Report(
            worker_id=self._place.worker_id,
            priority=self._place.priority,
            wanted=wanted,
            in_flight=self.running,
            calls=tuple(seen.calls),
            attempts=seen.attempts,
            tokens=seen.tokens,
            asked_until=seen.asked_until,
            spent_until=seen.spent_until,
            models=models,
        )
