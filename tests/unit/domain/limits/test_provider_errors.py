"""Who can repair a refusal: for every combination of status, code, type and words, in every wire format."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, NamedTuple

import orjson
import pytest
from multidict import CIMultiDict

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.provider_errors import RefusedCall, Remedy, Rule, meaning_of
from cupel_core.providers.errors import ProviderError, error_from_response, error_in_reply

NOW = datetime(2026, 1, 15, tzinfo=UTC)

WAIT, REPEAT, OWNER, REQUEST, NOBODY = Remedy
BY_STATUS = {
    400: REQUEST,
    401: OWNER,
    402: OWNER,
    403: OWNER,
    404: REQUEST,
    408: REPEAT,
    409: REPEAT,
    412: OWNER,
    422: REQUEST,
    424: REPEAT,
    425: REPEAT,
    429: WAIT,
    498: WAIT,
    499: REPEAT,
    500: REPEAT,
    502: REPEAT,
    503: WAIT,
    504: REPEAT,
    520: REPEAT,
    529: WAIT,
}
"""A status means this if nothing else says more."""
CODES: dict[str | None, Remedy | None] = {
    None: None,
    "content_filter": NOBODY,
    "insufficient_quota": OWNER,
    "billing_not_active": OWNER,
    "1113": OWNER,
    "invalid_api_key": OWNER,
    "overloaded_error": WAIT,
    "rate_limit_exceeded": WAIT,
    "made_up": None,
}
TYPES: dict[str | None, Remedy | None] = {
    None: None,
    "exceeded_current_quota_error": OWNER,
    "rate_limit_error": WAIT,
    "invalid_request_error": None,
}
REFUSED, BROKEN = (400, 402, 403, 412, 429), (400, 404, 408, 409, 424, 425, 499, 500, 502, 503, 504, 520, 529)


class Words(NamedTuple):
    text: str
    repair: Remedy | None
    statuses: tuple[int, ...] = ()
    """The words mean something only with these statuses."""


WORDS = (
    Words("it failed", None),
    Words("Output blocked by content filtering policy", NOBODY, (400, 403)),
    Words("Your credit balance is too low to access the API", OWNER, REFUSED),
    Words("Billing hard limit has been reached", OWNER, REFUSED),
    Words("Insufficient balance. Please recharge.", OWNER, REFUSED),
    Words("The model is overloaded. Please try again later.", WAIT, BROKEN),
    Words("Loading model", WAIT, BROKEN),
)
STRENGTH = (NOBODY, OWNER, WAIT)
"""The first of these decides if there are several hints: what is filtered stays so, and no wait refills an account."""
WIRE_FORMATS = ("openai", "anthropic", "google", "cohere", "openrouter", "in a reply")


class Case(NamedTuple):
    status: int
    code: str | None
    type: str | None
    words: Words
    wire_format: str

    @property
    def expected(self) -> Remedy:
        said = self.words.repair if self.status in self.words.statuses else None
        hints = (CODES[self.code], TYPES[self.type], said)
        return next((each for each in STRENGTH if each in hints), BY_STATUS[self.status])

    @property
    def error(self) -> ProviderError:
        if self.wire_format == "in a reply":
            detail = {"message": self.words.text, "type": self.type, "status": self.code, "code": self.status}
            return error_in_reply(detail)
        return error_from_response(self.status, CIMultiDict(), orjson.dumps(self.body), NOW)

    @property
    def body(self) -> Any:
        text, named = self.words.text, {"code": self.code, "type": self.type}
        match self.wire_format:
            case "openai":
                return {"error": {"message": text, "param": None, **named}}
            case "anthropic":
                return {"type": "error", "error": {**named, "message": text}, "request_id": "r"}
            case "google":
                details = [{"@type": "ErrorInfo", "reason": self.type}]
                return [{"error": {"code": self.status, "message": text, "status": self.code, "details": details}}]
            case "cohere":
                return {"id": "1", "message": text, **named}
        metadata = {"provider_name": "P", "raw": text}
        return {"error": {"message": "Provider returned error", "metadata": metadata, **named}}


def cases() -> Iterator[Case]:
    return (Case(*each) for each in product(BY_STATUS, CODES, TYPES, WORDS, WIRE_FORMATS))


def test_every_combination_means_what_its_strongest_hint_says() -> None:
    """20 statuses, 9 codes, 4 types, 7 texts and 6 formats: 30,240 combinations."""
    wrong = [(case, error.repair) for case in cases() if (error := case.error).repair is not case.expected]
    assert wrong == []
    assert sum(1 for _ in cases()) == 30_240


def test_the_words_of_the_provider_are_in_every_message() -> None:
    assert all(case.words.text in case.error.message for case in cases())


def test_a_code_is_the_same_as_a_number_and_as_text() -> None:
    for number in (1113, 429):
        as_number, as_text = ({"error": {"message": "no", "code": code}} for code in (number, str(number)))
        errors = [error_from_response(429, CIMultiDict(), orjson.dumps(each), NOW) for each in (as_number, as_text)]
        assert errors[0].repair is errors[1].repair


def google_quota(quota: str, delay: str | None = None) -> ProviderError:
    violation = {"quotaMetric": "generate_content_free_tier_requests", "quotaId": quota}
    details: list[dict[str, Any]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}
    ]
    details += [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}] if delay else []
    message = "You exceeded your current quota, please check your plan and billing details."
    error = {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}
    return error_from_response(429, CIMultiDict(), orjson.dumps({"error": error}), NOW)


def test_a_quota_for_a_day_is_the_owners_whatever_wait_is_named_beside_it() -> None:
    error = google_quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "17s")
    assert (error.repair, error.code) == (OWNER, ProbeErrorCode.RATE_LIMITED)


def test_a_quota_for_a_minute_is_waited_for_although_its_words_speak_of_billing() -> None:
    assert google_quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier").repair is WAIT


def test_a_reset_in_the_metadata_is_read_and_shown() -> None:
    """OpenRouter's free models: the reset is hours away, which only the owner can shorten."""
    reset = NOW + timedelta(hours=8)
    headers = {"X-RateLimit-Limit": "50", "X-RateLimit-Reset": str(int(reset.timestamp() * 1_000))}
    error = {"message": "Rate limit exceeded: free-models-per-day", "code": 429, "metadata": {"headers": headers}}
    read = error_from_response(429, CIMultiDict(), orjson.dumps({"error": error}), NOW)
    assert read.repair is OWNER
    assert read.message.endswith("free-models-per-day (until 2026-01-15 08:00 UTC)")


@pytest.mark.parametrize(("seconds", "repair"), [(3_600, WAIT), (3_601, OWNER)])
def test_a_wait_of_more_than_an_hour_is_the_owners(seconds: int, repair: Remedy) -> None:
    assert meaning_of(RefusedCall(429, wait_seconds=seconds)).repair is repair


def test_a_limit_for_a_day_that_names_its_wait_is_waited_for() -> None:
    text = "Rate limit reached on tokens per day (TPD). Please try again in 7m12s."
    assert meaning_of(RefusedCall(429, message=text, wait_seconds=432)).repair is WAIT
    assert meaning_of(RefusedCall(429, message=text)).repair is OWNER


def _row(rule: Rule) -> str:
    servers = [each for each in rule.statuses if each >= 500]
    others = [str(each) for each in rule.statuses if each < 500]
    statuses = ", ".join([*others, *(["500–599"] if len(servers) == 100 else map(str, servers))])
    hints = [*(f"`{code}`" for code in rule.codes), *(f"“{words.strip()}”" for words in rule.words)]
    unless = "; without a wait" if rule.has_no_wait else ""
    return f"| {rule.title} | {statuses or 'any'} | {', '.join(hints) or '–'}{unless} | {rule.repair} | {rule.code} |"
