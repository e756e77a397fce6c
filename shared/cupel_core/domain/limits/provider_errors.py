"""Classifies refusals of providers by who can repair them, in one table for every provider and wire format.

A status alone misleads: 429 is also the answer to an account without credit, and 400 to a model that is overloaded. The
table is read from its top, and the first rule that fits decides.
"""

import re
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import ProbeErrorCode

MAX_WAIT_SECONDS = 3_600.0
"""A longer requested wait pauses the run, so that its owner decides whether to continue."""


class Remedy(StrEnum):
    """The values state who can repair a refusal, and what follows."""

    WAIT = "time"
    """The account or the model asks to wait: the same call is made later, and the wait costs no attempt."""
    REPEAT = "another call"
    """The call failed, perhaps after it was billed: it is repeated, and each repetition is an attempt."""
    OWNER = "the owner"
    """No call can succeed before somebody pays, raises a limit or changes a key: the run is paused."""
    REQUEST = "another request"
    """The caller must change the request: only its probe is an error."""
    NOBODY = "nobody"
    """The provider answers no request of this kind, such as one with filtered content: its probe is an error."""


_REPAIR_BY_CODE = {
    ProbeErrorCode.RATE_LIMITED: Remedy.WAIT,
    ProbeErrorCode.TIMEOUT: Remedy.REPEAT,
    ProbeErrorCode.PROVIDER_ERROR: Remedy.REPEAT,
    ProbeErrorCode.NETWORK: Remedy.REPEAT,
    ProbeErrorCode.AUTH: Remedy.OWNER,
    ProbeErrorCode.INVALID_REQUEST: Remedy.REQUEST,
}


def usual_repair(code: ProbeErrorCode) -> Remedy:
    return _REPAIR_BY_CODE.get(code, Remedy.NOBODY)


class RefusedCall(NamedTuple):
    status: int
    codes: frozenset[str] = frozenset()
    """Every code, type, status, reason and quota that the body names, as text."""
    message: str = ""
    wait_seconds: float | None = None


class Meaning(NamedTuple):
    code: ProbeErrorCode
    repair: Remedy


@dataclass(frozen=True)
class Rule:
    """Describes a kind of refusal: any of these statuses, and one of these codes or words if it has any. `*` in a code
    matches any characters, and `…` in words up to 100. Case does not matter."""

    title: str
    code: ProbeErrorCode
    repair: Remedy
    statuses: tuple[int, ...] = ()
    codes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    has_no_wait: bool = False
    """The refusal must not request a wait, because a requested wait is trusted."""
    names: tuple[str, ...] = ()
    """In a response of status 200, these names of errors identify the kind, besides the codes."""
    named_status: int | None = None

    @cached_property
    def _codes(self) -> re.Pattern[str]:
        return _pattern(self.codes, "*", ".*")

    @cached_property
    def _words(self) -> re.Pattern[str]:
        return _pattern(self.words, "…", ".{0,100}")

    @cached_property
    def _names(self) -> re.Pattern[str]:
        return _pattern((*self.codes, *self.names), "*", ".*")

    def is_named(self, name: str) -> bool:
        return self.named_status is not None and self._names.fullmatch(name) is not None

    def fits(self, refusal: RefusedCall) -> bool:
        if self.statuses and refusal.status not in self.statuses:
            return False
        if self.has_no_wait and refusal.wait_seconds is not None:
            return False
        if not self.codes and not self.words:
            return True
        has_code = bool(self.codes) and any(map(self._codes.fullmatch, refusal.codes))
        return has_code or (bool(self.words) and self._words.search(refusal.message) is not None)


def _pattern(texts: tuple[str, ...], wildcard: str, stands_for: str) -> re.Pattern[str]:
    alternatives = (stands_for.join(map(re.escape, text.split(wildcard))) for text in texts)
    return re.compile("|".join(f"(?:{each})" for each in alternatives), re.IGNORECASE | re.DOTALL)


_Code = ProbeErrorCode
_SERVER_ERRORS = tuple(range(500, 600))

RULES: tuple[Rule, ...] = (
    Rule(
        "content that the provider filters",
        _Code.CONTENT_FILTERED,
        Remedy.NOBODY,
        codes=(
            "content_filter",
            "content_policy_violation",
            "image_content_policy_violation",
            "ResponsibleAIPolicyViolation",
        ),
    ),
    Rule(
        "content that the provider filters",
        _Code.CONTENT_FILTERED,
        Remedy.NOBODY,
        statuses=(400, 403),
        words=(
            "content filtering policy",
            "Content violates usage guidelines",
            "Content Exists Risk",
            "flagged as potentially violating",
        ),
    ),
    Rule(
        "a prompt that is too long for the model",
        _Code.INVALID_REQUEST,
        Remedy.REQUEST,
        statuses=(403,),
        words=("max_tokens", "max_new_tokens", "context length"),
    ),
    Rule(
        "a prompt that is larger than the limit for a minute",
        _Code.INVALID_REQUEST,
        Remedy.REQUEST,
        statuses=(429,),
        words=("request too large",),
    ),
    Rule(
        "a request that is too large",
        _Code.INVALID_REQUEST,
        Remedy.REQUEST,
        statuses=(413,),
        names=("request_too_large",),
        named_status=413,
    ),
    Rule(
        "a model that the plan does not include",
        _Code.AUTH,
        Remedy.OWNER,
        statuses=(429,),
        words=("quota exceeded…limit: 0,", "quota exceeded…limit: 0\n", "extra usage is required"),
    ),
    Rule(
        "a quota for a day (Google)",
        _Code.RATE_LIMITED,
        Remedy.OWNER,
        statuses=(403, 429),
        codes=("*PerDay*",),
    ),
    Rule(
        "a quota for a day, without a time",
        _Code.RATE_LIMITED,
        Remedy.OWNER,
        statuses=(403, 429),
        words=("per day", "per-day", "daily limit", "daily quota", "quota for today"),
        has_no_wait=True,
    ),
    Rule(
        "a quota for a minute (Google)",
        _Code.RATE_LIMITED,
        Remedy.WAIT,
        statuses=(429,),
        codes=("*PerMinute*", "RESOURCE_EXHAUSTED"),
        named_status=429,
    ),
    Rule(
        "billing: no credit, no plan, a suspended account",
        _Code.AUTH,
        Remedy.OWNER,
        codes=(
            "insufficient_quota",
            "insufficient_balance",
            "insufficient_credits",
            "exceeded_current_quota_error",
            "billing_*",
            "account_deactivated",
            "account_suspended",
            "payment_required",
            "1113",
        ),
        named_status=402,
    ),
    Rule(
        "billing: no credit, no plan, a suspended account",
        _Code.AUTH,
        Remedy.OWNER,
        statuses=(400, 402, 403, 412, 429),
        words=(
            "credit balance",
            "insufficient balance",
            "insufficient credit",
            "insufficient funds",
            "insufficient quota",
            "billing details",
            "billing hard limit",
            "plans & billing",
            "exceeded your current quota",
            "account is not active",
            "account…suspended",
            "account…deactivated",
            "purchase credits",
            "please recharge",
            "payment required",
        ),
    ),
    Rule(
        "a key that is wrong, expired or revoked",
        _Code.AUTH,
        Remedy.OWNER,
        codes=(
            "API_KEY_INVALID",
            "invalid_api_key",
            "invalid_authentication*",
            "authentication_error",
            "UNAUTHENTICATED",
            "UnrecognizedClientException",
            "ExpiredTokenException",
            "AccessDeniedException",
            "no_db_connection",  # LiteLLM's proxy knows its own key only, unless it has a database of others.
        ),
        named_status=401,
    ),
    Rule(
        "a model that is overloaded, or still loading",
        _Code.PROVIDER_ERROR,
        Remedy.WAIT,
        codes=("overloaded_error", "*overloaded*", "slow_down", "ModelNotReadyException", "UNAVAILABLE"),
        named_status=529,
    ),
    Rule(
        "a rate limit",
        _Code.RATE_LIMITED,
        Remedy.WAIT,
        codes=(
            "rate_limit_error",
            "rate_limit_exceeded",
            "rate_limited",
            "rate_limit_reached*",
            "rateLimitExceeded",
            "too_many_requests",
            "ThrottlingException",
            "ServiceQuotaExceededException",
            "TooManyRequestsException",
        ),
        names=("RateLimitError",),
        named_status=429,
    ),
    Rule("a rate limit, or no capacity (Groq: 498)", _Code.RATE_LIMITED, Remedy.WAIT, statuses=(429, 498)),
    Rule(
        "a model that is overloaded, or still loading",
        _Code.PROVIDER_ERROR,
        Remedy.WAIT,
        statuses=(400, 404, 408, 409, 424, 425, 499, *_SERVER_ERRORS),
        words=("overloaded", "loading model", "model is…loading", "at capacity", "no capacity", "server is busy"),
    ),
    Rule(
        "a service that asks to come back",
        _Code.PROVIDER_ERROR,
        Remedy.WAIT,
        statuses=(503, 529),
        names=("service_unavailable",),
        named_status=503,
    ),
    Rule(
        "a page of a proxy that checks its visitors",
        _Code.PROVIDER_ERROR,
        Remedy.REPEAT,
        statuses=(403,),
        words=("just a moment", "attention required"),
    ),
    Rule(
        "no access: the key, the plan or the region (Fireworks: 412 for a suspended account)",
        _Code.AUTH,
        Remedy.OWNER,
        statuses=(401, 402, 403, 412),
        names=("permission_error", "permission_denied"),
        named_status=403,
    ),
    Rule(
        "an answer that was not the JSON or the call that the provider enforces (Groq)",
        _Code.PROVIDER_ERROR,
        Remedy.REPEAT,
        codes=("json_validate_failed", "tool_use_failed"),
    ),
    Rule(
        "no answer in time",
        _Code.TIMEOUT,
        Remedy.REPEAT,
        statuses=(408, 504),
        names=("timeout_error", "vector_store_timeout", "deadline_exceeded"),
        named_status=504,
    ),
    Rule(
        "a call that was cancelled, or collided with another",
        _Code.PROVIDER_ERROR,
        Remedy.REPEAT,
        statuses=(409, 424, 425, 499),
    ),
    Rule(
        "a failure of the server",
        _Code.PROVIDER_ERROR,
        Remedy.REPEAT,
        statuses=_SERVER_ERRORS,
        names=("server_error", "internal_server_error", "api_error"),
        named_status=500,
    ),
    Rule(
        "any other refusal",
        _Code.INVALID_REQUEST,
        Remedy.REQUEST,
        names=("invalid_request_error", "context_length_exceeded", "not_found_error", "model_not_found"),
        named_status=400,
    ),
)


def named_status(name: str) -> int | None:
    """Return the status that an error's name represents in a response of status 200; None if the table does not have
    it."""
    return next((rule.named_status for rule in RULES if rule.is_named(name)), None)


def meaning_of(refusal: RefusedCall) -> Meaning:
    rule = next(rule for rule in RULES if rule.fits(refusal))
    if rule.repair is Remedy.WAIT and (refusal.wait_seconds or 0.0) > MAX_WAIT_SECONDS:
        return Meaning(rule.code, Remedy.OWNER)
    return Meaning(rule.code, rule.repair)
