"""How the workers of one account share what it allows: parallel calls, requests and tokens per minute.

Each worker has a seat. It tells what it could use and what it has seen, and is granted its fair share, but never more
than the others leave: so the calls of all together stay within the limit although no two workers ever talk. A worker
whose grant shrinks goes on holding what it has in flight. A dead worker's seat ends by its time.

The limit itself is learned as TCP learns a line's (additive increase, multiplicative decrease; Chiu and Jain 1989):
halved when the provider throttles, raised slowly while it does not, never above what the account is set to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, floor

from cupel_core.domain.limits.breaker import Breaker, Call
from cupel_core.domain.limits.token_bucket import Meter, full
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.turns.model_request import ErrorCode

SEAT_SECONDS = 6.0
"""Three times as long as a worker waits before it renews."""
LOWER_EVERY_SECONDS = 5.0
"""The calls in flight when the limit is halved are throttled too; they are not to halve it again."""
RAISE_EVERY_SECONDS = 5.0
RAISE_SHARE = 0.05
THROTTLED_SHARE = 0.1
"""A stray 429 among many answers concerns its own call, which waits; from one in ten the account is too fast."""
LONGEST_BLOCK_SECONDS = 900.0

_RANKS = (Priority.HIGH, Priority.NORMAL, Priority.LOW)


@dataclass(frozen=True)
class Limits:
    """What the account is set to."""

    parallel: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True)
class Seat:
    """A worker's part. `held` is what others must leave it: its grant, or what it still has in flight if that is more.

    `requests` and `tokens` are lent for its next calls; None where the account sets no such limit.
    """

    priority: Priority
    wanted: int
    until: float
    share: int = 0
    """What would be fair; the grant follows as the others give up theirs."""
    granted: int = 0
    held: int = 0
    requests: int | None = None
    tokens: float | None = None


@dataclass(frozen=True)
class Report:
    """What a worker tells: its demand, and what it has seen since its last report."""

    worker_id: str
    priority: Priority
    wanted: int
    in_flight: int
    calls: tuple[Call, ...] = ()
    attempts: int = 0
    """Calls that began: what a limit on requests counts."""
    tokens: int = 0
    asked_until: float = 0.0
    """The latest time at which a throttled call said to come again."""
    spent_until: float = 0.0
    """The same of an answered call that told of a spent allowance."""
    models: frozenset[str] = frozenset()
    """Whose probes it has waiting: one of them may be the trial of a breaker."""

    @property
    def throttles(self) -> int:
        return sum(call.code is ErrorCode.RATE_LIMITED for call in self.calls)


@dataclass(frozen=True)
class Governor:
    """Of one workspace's account with one provider. Times are seconds since 1970."""

    limit: int | None = None
    """What the account was last seen set to."""
    learned: int | None = None
    """Below `limit`, since the provider throttled; None while it does not."""
    lowered_at: float = 0.0
    raised_at: float = 0.0
    blocked_until: float = 0.0
    paused_at: float | None = None
    requests: Meter | None = None
    tokens: Meter | None = None
    seats: Mapping[str, Seat] = field(default_factory=dict)
    breakers: Mapping[str, Breaker] = field(default_factory=dict)

    def live(self, now: float) -> dict[str, Seat]:
        return {worker_id: seat for worker_id, seat in self.seats.items() if seat.until > now}

    def breaker(self, model: str) -> Breaker:
        return self.breakers.get(model, Breaker())


def renewed(governor: Governor, limits: Limits, report: Report, now: float) -> Governor:
    """After a report; the worker's seat says what it may do until its next."""
    own = governor.seats.get(report.worker_id)
    governor = replace(governor, limit=limits.parallel, seats=governor.live(now))
    governor = _after_throttles(governor, limits.parallel, report, now)
    governor = _settled(governor, limits, report, own, now)
    governor = replace(governor, breakers=_breakers(governor, report, now))
    return _seated(governor, limits, report, now)


def left(governor: Governor, limits: Limits, report: Report, now: float) -> Governor:
    """After a worker's last report: its seat is free, and what it was lent and did not use is back."""
    report = replace(report, wanted=0, in_flight=0, models=frozenset())
    governor = renewed(governor, limits, report, now)
    others = {worker_id: seat for worker_id, seat in governor.seats.items() if worker_id != report.worker_id}
    return replace(governor, seats=others)


def effective_limit(governor: Governor, parallel: int) -> int:
    return max(1, min(parallel, governor.learned or parallel))


def _after_throttles(governor: Governor, parallel: int, report: Report, now: float) -> Governor:
    throttles = report.throttles
    throttled = throttles > 0 and throttles >= THROTTLED_SHARE * len(report.calls)
    until = max(report.spent_until, report.asked_until if throttled else 0.0)
    governor = replace(governor, blocked_until=max(governor.blocked_until, min(until, now + LONGEST_BLOCK_SECONDS)))
    return _lowered(governor, parallel, report, now) if throttled else _raised(governor, parallel, now)


def _lowered(governor: Governor, parallel: int, report: Report, now: float) -> Governor:
    """Half of what was in use, not of what might have been."""
    if now - governor.lowered_at < LOWER_EVERY_SECONDS:
        return governor
    others = sum(seat.held for worker_id, seat in governor.seats.items() if worker_id != report.worker_id)
    own = governor.seats.get(report.worker_id)
    in_use = others + max(report.in_flight, own.held if own else 0)
    learned = max(1, min(effective_limit(governor, parallel), max(1, in_use)) // 2)
    return replace(governor, learned=learned, lowered_at=now, raised_at=now)


def _raised(governor: Governor, parallel: int, now: float) -> Governor:
    if governor.learned is None:
        return governor
    steps = floor((now - governor.raised_at) / RAISE_EVERY_SECONDS)
    if steps < 1:
        return governor
    learned = governor.learned + steps * max(1, round(parallel * RAISE_SHARE))
    return replace(governor, learned=learned if learned < parallel else None, raised_at=now)


def _settled(governor: Governor, limits: Limits, report: Report, own: Seat | None, now: float) -> Governor:
    """What the worker was lent comes back, less what it used. A seat that has ended brings nothing back."""
    alive = own if report.worker_id in governor.seats else None
    requests = _meter(governor.requests, limits.requests_per_minute, now)
    if requests and limits.requests_per_minute:
        lent = (alive and alive.requests) or 0
        requests = requests.settled(lent, report.attempts, limits.requests_per_minute)
    tokens = _meter(governor.tokens, limits.tokens_per_minute, now)
    if tokens and limits.tokens_per_minute:
        lent_tokens = (alive and alive.tokens) or 0.0
        tokens = tokens.settled(lent_tokens, report.tokens, limits.tokens_per_minute)
    return replace(governor, requests=requests, tokens=tokens)


def _meter(meter: Meter | None, per_minute: int | None, now: float) -> Meter | None:
    if per_minute is None:
        return None
    return (meter or full(per_minute, now)).refilled(per_minute, now)


def _breakers(governor: Governor, report: Report, now: float) -> dict[str, Breaker]:
    breakers = noted(governor.breakers, report.calls, now)
    for model in report.models & breakers.keys():
        breakers[model] = breakers[model].tried_by(report.worker_id, now)
    return breakers


def noted(breakers: Mapping[str, Breaker], calls: Iterable[Call], now: float) -> dict[str, Breaker]:
    """The breakers after these calls, of those models that had a failure lately: the others need none."""
    after = dict(breakers)
    for call in calls:
        if call.code is not None or call.model in after:
            after[call.model] = after.get(call.model, Breaker()).note(call, now)
    return {model: breaker for model, breaker in after.items() if not breaker.is_sound}


def _seated(governor: Governor, limits: Limits, report: Report, now: float) -> Governor:
    """Grants the fair share, as far as the others leave it."""
    limit = effective_limit(governor, limits.parallel)
    others = {worker_id: seat for worker_id, seat in governor.seats.items() if worker_id != report.worker_id}
    demands = {worker_id: (seat.priority, seat.wanted) for worker_id, seat in others.items()}
    share = shares(limit, {**demands, report.worker_id: (report.priority, report.wanted)})[report.worker_id]
    granted = max(0, min(share, limit - sum(seat.held for seat in others.values())))
    part = _part(granted, others.values())
    requests = None if governor.requests is None else floor(max(0.0, governor.requests.level))
    requests = requests and min(requests, ceil(requests * part))
    tokens = None if governor.tokens is None else max(0.0, governor.tokens.level) * part
    held = max(granted, report.in_flight)
    seat = Seat(report.priority, report.wanted, now + SEAT_SECONDS, share, granted, held, requests, tokens)
    return replace(
        governor,
        seats={**others, report.worker_id: seat},
        requests=governor.requests and governor.requests.without(requests or 0),
        tokens=governor.tokens and governor.tokens.without(tokens or 0.0),
    )


def _part(granted: int, others: Iterable[Seat]) -> float:
    """This worker's part of the rates: as its grant among all grants."""
    return granted / max(1, granted + sum(seat.granted for seat in others))


def shares(limit: int, demands: Mapping[str, tuple[Priority, int]]) -> dict[str, int]:
    """What is fair: a priority before the next, and equal parts within one, of which nobody gets more than it wants."""
    fair: dict[str, int] = {}
    for rank in _RANKS:
        waiting = sorted((wanted, worker_id) for worker_id, (priority, wanted) in demands.items() if priority is rank)
        for place, (wanted, worker_id) in enumerate(waiting):
            fair[worker_id] = min(wanted, ceil(limit / (len(waiting) - place)))
            limit -= fair[worker_id]
    return fair
