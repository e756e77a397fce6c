"""When a model is held, for how long, and what lets it go again."""

import pytest

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import MAX_OPEN_SECONDS, MIN_OPEN_SECONDS, Breaker, CallRecord
from cupel_core.domain.limits.provider_errors import Remedy

MODEL = "openai/m"


def after(*codes: ProbeErrorCode | None, now: float = 100.0) -> Breaker:
    breaker = Breaker()
    for code in codes:
        breaker = breaker.after_call(CallRecord(MODEL, code, now), now)
    return breaker


def failing(now: float = 100.0) -> Breaker:
    return after(*[ProbeErrorCode.TIMEOUT] * 20, now=now)


def opened(now: float = 100.0) -> Breaker:
    return after(*[ProbeErrorCode.AUTH] * 5, now=now)


@pytest.mark.parametrize("code", [ProbeErrorCode.AUTH, ProbeErrorCode.INVALID_REQUEST])
def test_five_refusals_in_a_row_open_it(code: ProbeErrorCode) -> None:
    assert not after(*[code] * 4).is_open
    breaker = after(*[code] * 5)
    assert breaker.is_refusing
    assert code in breaker.reason


def test_a_refusing_breaker_quotes_the_provider() -> None:
    calls = [CallRecord(MODEL, ProbeErrorCode.AUTH, 100.0, "HTTP 401: no such key")] * 5
    breaker = Breaker()
    for call in calls:
        breaker = breaker.after_call(call, 100.0)
    assert "HTTP 401: no such key" in breaker.reason


def test_a_refusing_breaker_does_not_store_what_was_said() -> None:
    breaker = Breaker()
    for _ in range(5):
        call = CallRecord(MODEL, ProbeErrorCode.INVALID_REQUEST, 100.0, "HTTP 422: input: my secret", is_quoting=True)
        breaker = breaker.after_call(call, 100.0)
    assert breaker.is_refusing
    assert "secret" not in breaker.reason
    assert "errors of the probes" in breaker.reason


def test_a_further_refusal_opens_a_refusing_breaker_again() -> None:
    breaker = opened(now=100.0)
    again = breaker.after_call(CallRecord(MODEL, ProbeErrorCode.AUTH, 150.0), 151.0)
    assert (again.is_refusing, again.opened_at) == (True, 151.0)


def test_a_model_that_fails_for_a_while_is_not_refusing() -> None:
    breaker = failing()
    assert breaker.is_open
    assert not breaker.is_refusing
    assert breaker.until == 100 + MIN_OPEN_SECONDS


def test_an_answer_between_refusals_resets_their_count() -> None:
    assert not after(*[ProbeErrorCode.AUTH] * 4, None, *[ProbeErrorCode.AUTH] * 4).is_open


def test_invalid_requests_to_a_model_that_has_answered_lately_are_no_refusals() -> None:
    """The next ones may be invalid for what they contain; a model that does not exist never answers."""
    assert not after(None, *[ProbeErrorCode.INVALID_REQUEST] * 9).is_open
    assert after(None, *[ProbeErrorCode.AUTH] * 5).is_refusing


@pytest.mark.parametrize(
    "message",
    [
        "HTTP 400: This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        "HTTP 400: prompt is too long: 210000 tokens > 200000 maximum",
        "HTTP 400: The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "ValidationException: Input is too long for requested model.",
    ],
)
def test_a_prompt_that_is_too_long_says_nothing_about_the_model(message: str) -> None:
    breaker = Breaker()
    for _ in range(30):
        breaker = breaker.after_call(CallRecord(MODEL, ProbeErrorCode.INVALID_REQUEST, 100.0, message), 100.0)
    assert breaker == Breaker()


def test_half_of_the_last_twenty_calls_open_it() -> None:
    assert not after(*[ProbeErrorCode.PROVIDER_ERROR, None, None] * 20).is_open
    assert after(*[ProbeErrorCode.TIMEOUT, None] * 10).is_open


def test_too_few_calls_open_nothing() -> None:
    assert not after(*[ProbeErrorCode.NETWORK] * 19).is_open


def test_filtered_content_is_an_answer() -> None:
    assert not after(*[ProbeErrorCode.CONTENT_FILTERED] * 40).is_open


def waiting(
    now: float = 100.0, wait_seconds: float = 0.0, started_at: float | None = None, others: int = 0
) -> CallRecord:
    started, words = now if started_at is None else started_at, "HTTP 429: Too Many Requests"
    return CallRecord(MODEL, ProbeErrorCode.RATE_LIMITED, started, words, wait_seconds=wait_seconds, others=others)


def test_a_single_request_to_wait_opens_nothing() -> None:
    assert not Breaker().after_call(waiting(), 100.0).is_open
    assert after(ProbeErrorCode.RATE_LIMITED, None).is_healthy


def test_requests_to_wait_among_calls_in_flight_or_answered_open_nothing() -> None:
    """A refusal takes milliseconds and an answer seconds: what is in flight may be answered."""
    breaker = Breaker()
    for _ in range(19):
        breaker = breaker.after_call(waiting(others=40), 100.0)
        assert not breaker.is_open
    assert breaker.after_call(waiting(others=40), 100.0).is_waiting


def test_a_model_that_only_asks_to_wait_is_tried_after_growing_waits() -> None:
    breaker, now, waits = Breaker(), 100.0, list[float]()
    breaker = breaker.after_call(waiting(now), now)
    for _ in range(8):
        breaker = breaker.after_call(waiting(now), now)
        waits.append(breaker.until - now)
        now = breaker.until
    assert waits == [5, 10, 20, 60, 180, 330, 330, 330]
    assert "Too Many Requests" in breaker.reason
    assert "--requests-per-minute" in breaker.reason


def test_a_wait_that_is_asked_for_is_respected() -> None:
    breaker = Breaker().after_call(waiting(), 100.0).after_call(waiting(wait_seconds=47), 100.0)
    assert breaker.until == 147


def test_refusals_of_the_same_burst_are_one_step() -> None:
    breaker = Breaker()
    for _ in range(50):
        breaker = breaker.after_call(waiting(started_at=99.0), 100.0)
    assert (breaker.steps, breaker.until) == (1, 105)


def test_an_answer_to_the_trial_ends_the_waits() -> None:
    breaker = Breaker().after_call(waiting(), 100.0).after_call(waiting(), 100.0)
    assert breaker.after_call(CallRecord(MODEL, None, 106.0), 107.0) == Breaker()


def test_a_model_that_has_asked_to_wait_for_an_hour_is_left_to_the_owner() -> None:
    breaker, now = Breaker().after_call(waiting(), 100.0), 100.0
    while not breaker.is_refusing:
        breaker = breaker.after_call(waiting(now), now)
        now = breaker.until
    assert 3_600 <= (breaker.opened_at or 0) - 100 <= 4_000
    assert "has asked to wait" in breaker.reason
    assert "Too Many Requests" in breaker.reason


def test_another_failure_of_the_trial_makes_the_model_wait_on() -> None:
    breaker = Breaker().after_call(waiting(), 100.0).after_call(waiting(), 100.0)
    after_timeout = breaker.after_call(CallRecord(MODEL, ProbeErrorCode.TIMEOUT, 106.0), 110.0)
    assert (after_timeout.is_waiting, after_timeout.until) == (True, 120)


def test_a_quota_that_only_the_owner_can_raise_counts_as_a_refusal() -> None:
    call = CallRecord(MODEL, ProbeErrorCode.RATE_LIMITED, 100.0, "per day (until 08:00)", repair=Remedy.OWNER)
    breaker = Breaker()
    for _ in range(5):
        breaker = breaker.after_call(call, 100.0)
    assert breaker.is_refusing
    assert "until 08:00" in breaker.reason


def test_calls_in_flight_when_it_opened_change_nothing() -> None:
    breaker = opened()
    assert breaker.after_call(CallRecord(MODEL, ProbeErrorCode.AUTH, 99.0), 101.0) == breaker
    assert breaker.after_call(CallRecord(MODEL, None, 99.0), 101.0) == breaker


def test_an_answer_to_a_later_call_closes_it() -> None:
    assert opened().after_call(CallRecord(MODEL, None, 131.0), 132.0) == Breaker()


def test_each_failed_trial_doubles_the_time_up_to_a_cap() -> None:
    breaker, lengths = failing(), []
    for _ in range(8):
        now = breaker.until + 1
        breaker = breaker.after_call(CallRecord(MODEL, ProbeErrorCode.TIMEOUT, now), now)
        lengths.append(breaker.until - now)
    assert lengths == [60, 120, 240, 480, MAX_OPEN_SECONDS, MAX_OPEN_SECONDS, MAX_OPEN_SECONDS, MAX_OPEN_SECONDS]


def test_one_worker_at_a_time_may_try_and_only_when_it_is_due() -> None:
    breaker = failing()
    assert breaker.with_trial_by("a", breaker.until - 1).trial_of is None
    tried = breaker.with_trial_by("a", breaker.until)
    assert tried.trial_of == "a"
    assert tried.with_trial_by("b", breaker.until + 1).trial_of == "a"


def test_a_trial_that_never_ended_goes_to_another_worker() -> None:
    tried = opened().with_trial_by("a", 200.0)
    assert tried.with_trial_by("b", tried.trial_until).trial_of == "b"


def test_a_rate_limited_trial_may_be_tried_again() -> None:
    tried = opened().with_trial_by("a", 200.0)
    assert tried.after_call(CallRecord(MODEL, ProbeErrorCode.RATE_LIMITED, 201.0), 202.0).trial_of is None
