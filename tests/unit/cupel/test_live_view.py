"""What `cupel watch` shows of a run's progress, in a terminal of any width and in a pipe."""

from io import StringIO
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from cupel.live_view import (
    format_compact,
    format_rate,
    format_seconds,
    live_view,
    problems,
    progress_line,
)
from tests import screenshots
from tests.unit.cupel.fake_api import Json, a_delay, a_progress, a_run, a_target

RUN = a_run()
LATER = "2026-01-31T09:32:00.000Z"
LONG = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def shown(progress: Json, width: int = 120, height: int = 50) -> list[str]:
    console = Console(file=StringIO(), width=width, height=height, force_terminal=False)
    console.print(live_view(progress, RUN, width, height))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert all(len(line) <= width for line in lines), "nothing is wrapped by the terminal"
    return [line.rstrip() for line in lines]


def busy(target: str = "openai/gpt-5-mini", **changes: Any) -> Json:
    results = {"judged": 400, "passRate": 0.871, "estimatedTokens": 1_234_567}
    values = {"ratePerSecond": 3.42, "etaSeconds": 170.0, "costUsd": 0.43, "pricedUsd": 0.43, "results": results}
    return a_target(target, 1_000, 420, 3, **values | changes)


def test_one_row_per_target_shows_how_far_it_is() -> None:
    lines = shown(a_progress(busy(), a_target("sim/steady", 1_000), running=20))
    assert lines[0] == "run_1  RUNNING"
    assert lines[1] == ("420 completed, 3 errored of 2,000 (21%)  20 running  3.4/s  $0.43  after 1:12")
    assert lines[2].split() == ["target", "done", "errored", "pass", "rate", "tokens", "cost", "rate", "ETA"]
    name, bar, *figures = lines[3].split()
    assert (name, figures) == ("openai/gpt-5-mini", ["423/1,000", "3", "87%", "1.2M", "$0.43", "3.4/s", "2:50"])
    assert (bar.count("━"), bar.count("─")) == (10, 14)
    assert lines[4].split()[2:] == ["0/1,000", "0", "–", "–", "$0", "–", "–"]


def test_at_60_columns_a_target_has_two_lines_and_all_figures() -> None:
    lines = shown(a_progress(busy(LONG)), width=60)
    assert lines[4] == LONG
    assert lines[5].split()[1:] == ["423/1,000", "3", "87%", "1.2M", "$0.43", "3.4/s", "2:50"]


def test_large_numbers_fit_into_60_columns() -> None:
    changes = {"results": {"passRate": 0.5, "isComplete": False, "estimatedTokens": 10**9}, "costUsd": 1_234.5}
    target = a_target(LONG, 1_000_000, 420_000, 12_345, ratePerSecond=1_234.0, etaSeconds=86_000.0, **changes)
    [figures] = [line for line in shown(a_progress(target | {"pricedUsd": 1_234.5}), width=60) if "━" in line]
    assert figures.split()[1:] == ["432k/1.0M", "12k", "≈50%", "≈1.0G", "$1,234", "1,234/s", "23:53:20"]


def test_wide_characters_are_aligned() -> None:
    lines = shown(a_progress(busy("custom/模型"), busy("custom/model")), width=100)
    bars = [cell_len(line[: line.index("━")]) for line in lines if "━" in line]
    assert bars == [14, 14]


def test_a_name_or_message_of_several_lines_is_shown_on_one() -> None:
    delay = a_delay("model_suspended", model="openai/x", until=LATER, message="overloaded\n\ntry later")
    lines = shown(a_progress(busy("openai/\nx", delays=[delay])), width=100)
    assert any("overloaded try later" in line for line in lines)
    assert sum("━" in line and "openai/ x" in line for line in lines) == 1


def test_without_results_the_mean_of_decisions_is_shown() -> None:
    lines = shown(a_progress(busy(results={"meanDecision": 3.214, "estimatedTokens": 5})))
    assert "mean" in lines[2]
    assert "3.21" in lines[3]


def test_estimates_and_unknown_prices_are_marked() -> None:
    target = busy(costUsd=None, results={"passRate": 0.5, "isComplete": False, "estimatedTokens": 12_000})
    assert shown(a_progress(target))[3].split()[4:7] == ["≈50%", "≈12k", "≥$0.43"]


def test_columns_without_any_value_are_left_out() -> None:
    headings = shown(a_progress(a_target("sim/steady", 30)))[2].split()
    assert headings == ["target", "done", "errored", "cost"]


def test_twenty_targets_fit_into_their_rows() -> None:
    lines = shown(a_progress(*(busy(f"openai/model-{number}") for number in range(20))))
    assert sum("openai/model-" in line for line in lines) == 20


def test_of_more_targets_than_fit_those_with_most_left_are_shown() -> None:
    targets = [a_target(f"sim/m{number}", 10, 10 - number % 5) for number in range(20)]
    lines = shown(a_progress(*targets), height=12)
    assert len(lines) <= 12
    assert [line.split()[0] for line in lines if line.startswith("sim/")] == [
        f"sim/m{n}" for n in (3, 4, 8, 9, 13, 14, 19)
    ]
    assert lines[-1] == "and 13 more targets"


def test_repeated_and_slow_calls_are_shown() -> None:
    slow = {"calls": 1, "attempt": 2, "maxAttempts": 4, "seconds": 57.2}
    targets = [busy("openai/x", slowCalls=slow), busy("openai/y", slowCalls=None)]
    assert shown(a_progress(*targets), width=100)[-1] == "openai/x: attempt 2 of 4, 57 s"
    several = busy("openai/x", slowCalls={**slow, "calls": 3})
    last = "openai/x: attempt 2 of 4, 57 s, and 2 other calls that are repeated or slow"
    assert shown(a_progress(several), width=100)[-1] == last


def test_each_attempt_of_a_slow_call_is_a_line_of_its_own() -> None:
    keys = [
        set(problems(a_progress(busy("openai/x", slowCalls=slow)), RUN))
        for attempt, seconds in ((1, 31), (1, 47), (2, 5))
        for slow in [{"calls": 1, "attempt": attempt, "maxAttempts": 4, "seconds": seconds}]
    ]
    assert keys[0] == keys[1] != keys[2]


def test_what_holds_up_several_targets_is_said_once() -> None:
    delay = a_delay("queue_paused", provider="openai")
    lines = shown(a_progress(busy(delays=[delay]), busy("openai/gpt-5", delays=[delay])))
    assert lines[-1] == "the queue of openai is paused; cupel queue resume --provider openai resumes it"


@pytest.mark.parametrize(
    ("delay", "expected"),
    [
        (
            a_delay("throttled", provider="openai", until=LATER),
            "openai throttles the calls: the next one is made in 0:48",
        ),
        (
            a_delay("learned_limit", provider="openai", limit=10, learnedLimit=4),
            "openai throttles the calls: 4 of 10 parallel requests are used",
        ),
        (
            a_delay("higher_priority", provider="openai", limit=10, takenSlots=8),
            "work of higher priority takes 8 of 10 parallel requests to openai",
        ),
        (
            a_delay("chat_reservation", provider="openai", limit=20, takenSlots=2),
            "chats reserve 2 of 20 parallel requests to openai",
        ),
        (
            a_delay("run_limit", limit=3, staggerMs=[200, 400]),
            "the run limits itself: 3 conversations at a time, 200 to 400 ms between two starts",
        ),
        (a_delay("run_limit", limit=1), "the run limits itself: 1 conversation at a time"),
        (
            a_delay("budget", budget="run"),
            "its budget has too little left for the next call: the rest is reserved for others",
        ),
        (
            a_delay("budget", budget="month"),
            "the workspace's budget for the month has too little left for the next call: the rest is reserved",
        ),
        (
            a_delay("model_suspended", model="openai/x", until=LATER, message="429: no [quota]"),
            "openai/x is suspended, next try in 0:48: 429: no [quota]",
        ),
        (a_delay("run_paused"), "the run is paused by a user; cupel resume run_1 resumes it"),
    ],
)
def test_what_holds_up_a_target_is_said_with_what_to_do(delay: Json, expected: str) -> None:
    lines = shown(a_progress(busy(delays=[delay]), pauseReason="user"), width=200)
    assert any(expected in line for line in lines)


def test_a_run_that_waits_for_a_repair_names_the_command_that_repairs_it() -> None:
    delay = a_delay("run_paused", model="custom/gpt-x", message="it refuses every call (auth): no such key")
    progress = a_progress(busy(delays=[delay]), status="PAUSED", pauseReason="provider")
    [[cause, repair]] = problems(progress, RUN).values()
    assert cause == "custom/gpt-x cannot be called: it refuses every call (auth): no such key"
    assert "cupel providers set custom" in repair


def test_errors_are_listed_by_cause_over_all_targets() -> None:
    def errors(**counts: int) -> Json:
        causes = [{"code": code, "count": count, "message": f"{code} of it"} for code, count in counts.items()]
        return {"probes": 9, "isComplete": True, "causes": causes}

    first, second = busy(errors=errors(timeout=7, network=2)), busy("openai/gpt-5", errors=errors(timeout=9))
    lines = shown(a_progress(first, second))
    assert lines[-2:] == [
        "16 errored with timeout (2 targets): timeout of it",
        "2 errored with network (openai/gpt-5-mini): network of it",
    ]


def test_reasons_of_unscored_answers_are_listed_over_all_targets() -> None:
    def results(count: int, *, is_complete: bool = True) -> Json:
        reason = {"code": "judge_failed", "model": "custom/j", "providerCode": "auth", "count": count}
        reasons = [{**reason, "probeIndex": 1, "example": "HTTP 401"}]
        return {"judged": 0, "passRate": None, "isComplete": is_complete, "unscoredReasons": reasons}

    first, second = a_target("a", 9, 9, 0, results=results(7)), a_target("b", 9, 9, 0, results=results(2))
    assert shown(a_progress(first, second))[-1] == "9 not scored, judge_failed (auth) of custom/j: HTTP 401"
    sampled = a_target("b", 9, 9, 0, results=results(2, is_complete=False))
    assert shown(a_progress(first, sampled))[-1].startswith("at least 9 not scored")


def test_a_run_whose_judge_gives_no_verdict_names_what_helps() -> None:
    message = "the judge custom/j gave no usable verdict on the first 8 answers (judge_reply): it gave no usable reply"
    delay = a_delay("run_paused", model="custom/j", message=message)
    progress = a_progress(busy(delays=[delay])) | {"status": "PAUSED", "pauseReason": "judge"}
    (lines,) = problems(progress, RUN).values()
    assert lines[0] == message
    assert f"cupel resume {progress['runId']} asks it again" in lines[1]


def test_of_sampled_errors_there_are_at_least_so_many() -> None:
    causes = [{"code": "timeout", "count": 50, "message": "no answer"}]
    line = shown(a_progress(busy(errors={"probes": 50, "isComplete": False, "causes": causes})))[-1]
    assert line == "at least 50 errored with timeout (openai/gpt-5-mini): no answer"


def test_a_finished_run_has_full_bars() -> None:
    lines = shown(a_progress(a_target("connector/con_1", 30, 28, 2), status="COMPLETED"))
    assert lines[1].startswith("28 completed, 2 errored of 30 (100%)")
    assert "─" not in lines[3]


def test_a_message_of_a_provider_cannot_control_the_terminal() -> None:
    delay = a_delay("model_suspended", model="openai/x", until=LATER, message="\x1b[2Jred")
    assert not any("\x1b" in line for line in shown(a_progress(busy("\x1bopenai/x", delays=[delay]))))


def test_in_a_pipe_a_line_has_the_run_and_its_totals() -> None:
    assert progress_line(a_progress(busy(etaSeconds=170.0)), RUN) == (
        "run_1 RUNNING, 420 completed, 3 errored of 1,000 (42%), 3.4/s, ETA 2:50, $0.43, after 1:12"
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "–"), (0, "0:00"), (42.4, "0:42"), (3_723, "1:02:03"), (200_000, "2 d 7 h")]
)
def test_durations_are_short(seconds: float | None, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("rate", "text"), [(None, "–"), (0, "0/s"), (0.04, "2.4/min"), (3.42, "3.4/s"), (1_234.4, "1,234/s")]
)
def test_slow_rates_are_per_minute(rate: float | None, text: str) -> None:
    assert format_rate(rate) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (9_999, "9,999"), (12_345, "12k"), (1_234_567, "1.2M"), (10**13, "10,000G")]
)
def test_large_numbers_are_compact(number: int, text: str) -> None:
    assert format_compact(number) == text


@pytest.mark.parametrize("width", screenshots.WIDTHS)
def test_the_pictures_in_the_documentation_are_current(width: int) -> None:
    """`python -m tests.screenshots` writes them anew."""
    assert screenshots.path_of(width).read_text() == screenshots.screenshot(width)
