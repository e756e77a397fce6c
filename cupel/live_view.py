"""Shows the progress of a run as text: a view for a terminal of any width, and single lines for a pipe."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.text import Text

from cupel import render
from cupel.counts import count_of
from cupel.json_types import Json
from cupel.terminal import NO_VALUE, one_line, shorten
from cupel.unscored_answers import UnscoredReason
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.runs.delays import DelayReason
from cupel_core.domain.runs.run import PauseReason, RunStatus
from cupel_core.domain.text.figures import format_usd

_GAP = "  "
_MAX_BAR = 24
_MIN_BAR = 5
_COMPACT_FROM = 10_000
_UNITS = "kMG"
_DONE, _LEFT = "━", "─"


class _Figure(NamedTuple):
    heading: str
    cells: list[str]

    @property
    def width(self) -> int:
        return max(map(len, (self.heading, *self.cells)))


class _FigureLayout(NamedTuple):
    columns: list[_Figure]
    gap: int

    @property
    def width(self) -> int:
        return sum(self.gap + column.width for column in self.columns)

    def headings(self) -> str:
        return self._line([column.heading for column in self.columns])

    def cells(self, row: int) -> str:
        return self._line([column.cells[row] for column in self.columns])

    def _line(self, texts: Sequence[str]) -> str:
        pairs = zip(self.columns, texts, strict=True)
        return "".join(text.rjust(self.gap + column.width) for column, text in pairs)


def live_view(progress: Json, run: Json, width: int, height: int) -> Group:
    name = Text.assemble((progress["runId"], "bold"), _GAP, Text.from_markup(render.format_status(progress["status"])))
    header = [name, *map(Text, _totals_lines(progress, run, width))]
    notes = [Text(one_line(line), style=style) for style, line in _notes(progress, run)]
    room = height - 1 - len(header) - sum(-(-note.cell_len // width) for note in notes)
    return Group(*header, *_target_rows(progress["targets"], width, room), *notes)


def progress_line(progress: Json, run: Json) -> str:
    return ", ".join((f"{progress['runId']} {progress['status']}", *_totals(progress, run)))


def problems(progress: Json, run: Json) -> dict[tuple[str, ...], list[str]]:
    """Return delays of targets with their remedies, and repeated or slow calls.

    The key of a problem stays the same as long as its reason does, so that a caller can report each problem once.
    """
    delays = (delay for target in progress["targets"] for delay in target["delays"])
    held_up = {
        tuple(str(delay.get(name)) for name in ("reason", "provider", "model", "message", "budget")): [
            one_line(line) for line in _delay_lines(progress, run, delay)
        ]
        for delay in delays
    }
    return held_up | dict(_slow_calls(progress["targets"]))


def _slow_calls(targets: Sequence[Json]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Describe calls in flight that are repeats or take long; a new attempt has another key."""
    for target in targets:
        if slow := target["slowCalls"]:
            name, others = render.column_title(target), slow["calls"] - 1
            more = f", and {count_of(others, 'other call')} that are repeated or slow" if others else ""
            line = f"{name}: attempt {slow['attempt']} of {slow['maxAttempts']}, {slow['seconds']:.0f} s{more}"
            yield ("slow", name, str(slow["attempt"])), [one_line(line)]


def _totals_lines(progress: Json, run: Json, width: int) -> Iterator[str]:
    line = ""
    for part in _totals(progress, run):
        if line and len(line) + len(_GAP) + len(part) > width:
            yield line
            line = part
        else:
            line = f"{line}{_GAP}{part}" if line else part
    yield line


def _totals(progress: Json, run: Json) -> Iterator[str]:
    total, completed, errored = progress["total"], progress["completed"], progress["errored"]
    yield f"{completed:,} completed, {errored:,} errored of {total:,} ({(completed + errored) / total:.0%})"
    if progress["running"]:
        yield f"{progress['running']:,} running"
    rates = [target["ratePerSecond"] for target in progress["targets"]]
    if any(rate is not None for rate in rates):
        yield format_rate(sum(rate or 0 for rate in rates))
    if eta := _eta(progress["targets"]):
        yield f"ETA {eta}"
    if spent := _spent(progress["spend"]):
        yield spent
    yield f"after {format_seconds(_seconds_between(run['createdAt'], progress['readAt']))}"


def _seconds_between(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def _eta(targets: Sequence[Json]) -> str | None:
    etas = [target["etaSeconds"] for target in targets]
    return format_seconds(max(etas)) if all(eta is not None for eta in etas) and max(etas) > 0 else None


def _spent(spend: Json) -> str | None:
    budget = spend.get("budget")
    if not spend["pricedUsd"] and not budget:
        return None
    of_budget = f" of {format_usd(budget['maxBudgetUsd'])}" if budget else ""
    return f"{'at least ' if spend['costUsd'] is None else ''}{format_usd(spend['pricedUsd'])}{of_budget}"


def _target_rows(targets: Sequence[Json], width: int, room: int) -> Iterator[Text]:
    """Yield one line per target if all fit into the width, else two. If `room` is too small, those with most to do
    remain."""
    names = [one_line(render.column_title(target)) for target in targets]
    prefix = max(map(cell_len, ("target", *names))) + 2
    layout = _FigureLayout(_columns(targets), gap=2)
    lines_per_target = 1 if prefix + _MIN_BAR + layout.width <= width else 2
    if lines_per_target == 2:
        prefix, columns = 0, _columns(targets, compact=True)
        layout = next(
            each for gap in (2, 1) if (each := _FigureLayout(columns, gap)).width + _MIN_BAR <= width or gap == 1
        )
    bar_width = max(_MIN_BAR, min(_MAX_BAR, width - prefix - layout.width))
    shown = _shown(targets, room, lines_per_target)
    yield Text(_crop("target".ljust(prefix)[:prefix] + " " * bar_width + layout.headings(), width), style="bold")
    for row in shown:
        if lines_per_target == 2:
            yield Text(names[row], no_wrap=True, overflow="ellipsis")
        name = set_cell_size(names[row], prefix) if prefix else ""
        yield Text.assemble(name, _bar(targets[row], bar_width), _crop(layout.cells(row), width - prefix - bar_width))
    if hidden := len(targets) - len(shown):
        yield Text(f"and {count_of(hidden, 'more target')}", style="dim")


def _crop(text: str, width: int) -> str:
    return text[: max(0, width)]


def _shown(targets: Sequence[Json], room: int, lines_per_target: int) -> list[int]:
    heading = more = 1
    if len(targets) * lines_per_target + heading <= room:
        return list(range(len(targets)))
    limit = max(1, (room - heading - more) // lines_per_target)
    by_left = sorted(range(len(targets)), key=lambda row: _recorded(targets[row]) - targets[row]["total"])
    return sorted(by_left[:limit])


def _recorded(target: Json) -> int:
    return int(target["completed"] + target["errored"])


def _columns(targets: Sequence[Json], *, compact: bool = False) -> list[_Figure]:
    number = format_compact if compact else _grouped
    columns = [
        _Figure("done", [f"{number(_recorded(each))}/{number(each['total'])}" for each in targets]),
        _Figure("errored", [number(each["errored"]) for each in targets]),
        _result_column([each["results"] for each in targets], compact=compact),
        _Figure("tokens", [_tokens(each["results"]) for each in targets]),
        _Figure("cost", [_cost(each, compact=compact) for each in targets]),
        _Figure("rate", [format_rate(each["ratePerSecond"]) for each in targets]),
        _Figure("ETA", [format_seconds(each["etaSeconds"]) for each in targets]),
    ]
    return [column for column in columns if any(cell != NO_VALUE for cell in column.cells)]


def _grouped(number: int) -> str:
    return f"{number:,}"


def _result_column(results: Sequence[Json], *, compact: bool) -> _Figure:
    judged = any(each["passRate"] is not None for each in results)
    name, text = ("passRate", "{:.0%}") if judged else ("meanDecision", "{:.2f}")
    cells = [
        NO_VALUE if each[name] is None else ("" if each["isComplete"] else "≈") + text.format(each[name])
        for each in results
    ]
    return _Figure(("pass" if compact else "pass rate") if judged else "mean", cells)


def _tokens(results: Json) -> str:
    if not results["probes"]:
        return NO_VALUE
    return ("" if results["isComplete"] else "≈") + format_compact(results["estimatedTokens"])


def _cost(target: Json, *, compact: bool) -> str:
    priced = target["pricedUsd"]
    if not priced and target["costUsd"] is None:
        return NO_VALUE
    cost = f"${priced:,.0f}" if compact and priced >= 100 else format_usd(priced)
    return ("≥" if target["costUsd"] is None else "") + cost


def _bar(target: Json, width: int) -> Text:
    total = max(1, target["total"])
    recorded = round(width * _recorded(target) / total)
    errored = min(recorded, -(-width * target["errored"] // total))
    return Text.assemble(
        (_DONE * (recorded - errored), "green"), (_DONE * errored, "red"), (_LEFT * (width - recorded), "dim")
    )


def _notes(progress: Json, run: Json) -> Iterator[tuple[str, str]]:
    for lines in problems(progress, run).values():
        for line in lines:
            yield "yellow", line
    for line in _error_lines(progress["targets"]):
        yield "red", line
    for line in _unscored_lines(progress["targets"]):
        yield "yellow", line


def _error_lines(targets: Sequence[Json]) -> Iterator[str]:
    causes: dict[str, list[tuple[str, Json]]] = {}
    for target in targets:
        for cause in target["errors"]["causes"]:
            causes.setdefault(cause["code"], []).append((render.column_title(target), cause))
    at_least = "" if all(target["errors"]["isComplete"] for target in targets) else "at least "
    for code, found in causes.items():
        where = found[0][0] if len(found) == 1 else count_of(len(found), "target")
        message = shorten(max(found, key=lambda each: each[1]["count"])[1]["message"], 100)
        yield f"{at_least}{sum(cause['count'] for _, cause in found):,} errored with {code} ({where}): {message}"


def _unscored_lines(targets: Sequence[Json]) -> Iterator[str]:
    found: dict[str, list[UnscoredReason]] = {}
    for target in targets:
        for reason in map(UnscoredReason.read, target["results"]["unscoredReasons"]):
            found.setdefault(reason.name, []).append(reason)
    at_least = "" if all(target["results"]["isComplete"] for target in targets) else "at least "
    for name, reasons in found.items():
        count, example = sum(reason.count for reason in reasons), shorten(reasons[0].example, 100)
        yield f"{at_least}{count:,} not scored, {name}{f': {example}' if example else ''}"


_BUDGETS = {
    BudgetScope.RUN: "its budget",
    BudgetScope.DAY: "the workspace's budget for the day",
    BudgetScope.MONTH: "the workspace's budget for the month",
}


def _delay_lines(progress: Json, run: Json, delay: Json) -> Iterator[str]:
    match delay["reason"]:
        case DelayReason.RUN_PAUSED:
            yield from _pause_lines(progress, run, delay)
        case DelayReason.QUEUE_PAUSED:
            provider = delay["provider"]
            yield f"the queue of {provider} is paused; cupel queue resume --provider {provider} resumes it"
        case DelayReason.MODEL_SUSPENDED:
            yield f"{delay['model']} is suspended, next try in {_wait(progress, delay)}: {delay['message']}"
            if progress["errored"]:
                yield f"cupel retry {progress['runId']} runs the errored conversations again, once it can be called"
        case DelayReason.THROTTLED:
            yield f"{delay['provider']} throttles the calls: the next one is made in {_wait(progress, delay)}"
        case DelayReason.BUDGET:
            yield f"{_BUDGETS[delay['budget']]} has too little left for the next call: the rest is reserved for others"
        case DelayReason.RUN_LIMIT:
            yield f"the run limits itself: {', '.join(_own_limits(delay))}"
        case _:
            yield _shared_limit_line(delay)


def _shared_limit_line(delay: Json) -> str:
    """Say who else uses the parallel requests of the account, or that its provider sustains fewer."""
    provider, taken, limit = delay["provider"], delay["takenSlots"], count_of(delay["limit"], "parallel request")
    match delay["reason"]:
        case DelayReason.HIGHER_PRIORITY:
            return f"work of higher priority takes {taken} of {limit} to {provider}"
        case DelayReason.CHAT_RESERVATION:
            return f"chats reserve {taken} of {limit} to {provider}"
        case _:
            return f"{provider} throttles the calls: {delay['learnedLimit']} of {limit} are used"


def _own_limits(delay: Json) -> Iterator[str]:
    if delay["limit"] is not None:
        yield f"{count_of(delay['limit'], 'conversation')} at a time"
    if delay["staggerMs"] is not None:
        shortest, longest = delay["staggerMs"]
        yield f"{shortest} to {longest} ms between two starts"


def _wait(progress: Json, delay: Json) -> str:
    return format_seconds(max(0.0, _seconds_between(progress["readAt"], delay["until"])))


def _pause_lines(progress: Json, run: Json, delay: Json) -> Iterator[str]:
    if delay["model"] is not None and progress["pauseReason"] == PauseReason.JUDGE:
        yield delay["message"]
        yield render.judge_hint(progress["runId"])
    elif delay["model"] is not None:
        yield f"{delay['model']} cannot be called: {delay['message']}"
        yield render.repair_hint(run, delay["model"])
    elif progress["pauseReason"] == PauseReason.BUDGET:
        yield render.budget_hint(progress["runId"], progress.get("exhaustedBudget"))
    else:
        reason = "by a user" if progress["pauseReason"] == PauseReason.USER else f"({progress['pauseReason']})"
        yield f"the run is paused {reason}; cupel resume {progress['runId']} resumes it"


def is_waiting_for_user(progress: Json) -> bool:
    """Return whether the run is paused until a user repairs a provider, raises the budget, or resumes the run."""
    reasons = (PauseReason.PROVIDER, PauseReason.BUDGET, PauseReason.JUDGE)
    return progress["status"] == RunStatus.PAUSED and progress["pauseReason"] in reasons


def format_rate(per_second: float | None) -> str:
    """Return `3.4/s`, `120/s`, or `2.5/min` if it is slow."""
    if per_second is None:
        return NO_VALUE
    if 0 < per_second < 0.5:
        return f"{per_second * 60:.1f}/min"
    return f"{per_second:.1f}/s" if 0 < per_second < 10 else f"{per_second:,.0f}/s"


def format_seconds(seconds: float | None) -> str:
    """Return `0:42`, `1:02:03`, or `2 d 3 h`."""
    if seconds is None:
        return NO_VALUE
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def format_compact(number: int) -> str:
    """Return `9,999`, `12k`, or `1.2M`."""
    if number < _COMPACT_FROM:
        return f"{number:,}"
    power = min((len(str(number)) - 1) // 3, len(_UNITS))
    scaled = number / 1_000**power
    return (f"{scaled:.1f}" if scaled < 10 else f"{scaled:,.0f}") + _UNITS[power - 1]
