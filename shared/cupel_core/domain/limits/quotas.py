"""Declares what one workspace may use of a stack that it shares with others.

A quota belongs to the workspace, so that tokens, sessions, runs and chats do not multiply it. The operator of a stack
sets quotas by the template's parameter `WorkspaceQuotas`, such as `tokens=50,fileBytes=1000000000`.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from cupel_core.domain.limits.request_rate import RequestLimit
from cupel_core.domain.limits.waiting import WaitingLimits

_BURST_SECONDS = 2


class Quota(StrEnum):
    REQUESTS_PER_SECOND = "requestsPerSecond"
    WAITING_REQUESTS = "waitingRequests"
    WAITING_REQUESTS_PER_TOKEN = "waitingRequestsPerToken"  # noqa: S105 - the name of a quota
    CREATIONS_PER_DAY = "creationsPerDay"
    TOKENS = "tokens"
    SESSIONS = "sessions"
    DEFINITIONS = "definitions"
    PERSONAS = "personas"
    CONNECTORS = "connectors"
    EVALS = "evals"
    EXPERIMENTS = "experiments"
    PROFILES = "profiles"
    SCHEDULES = "schedules"
    CHATS = "chats"
    FILES = "files"
    FILE_BYTES = "fileBytes"


class QuotaRule(NamedTuple):
    default: int
    what: str
    """A refusal names what is limited in these words."""
    reason: str


QUOTAS: Mapping[Quota, QuotaRule] = MappingProxyType(
    {
        Quota.REQUESTS_PER_SECOND: QuotaRule(
            100, "requests per second", "two tokens at their own limit; twice as many may be sent at once"
        ),
        Quota.WAITING_REQUESTS: QuotaRule(
            10, "waiting requests", "a few people who follow chats; each request takes an execution environment"
        ),
        Quota.WAITING_REQUESTS_PER_TOKEN: QuotaRule(
            3, "waiting requests of one token", "one person with three open windows"
        ),
        Quota.CREATIONS_PER_DAY: QuotaRule(
            50_000, "creations per day", "bounds what is created and deleted again, which runs may still refer to"
        ),
        Quota.TOKENS: QuotaRule(200, "API tokens", "one for each person and machine of a large team"),
        Quota.SESSIONS: QuotaRule(200, "sessions of the web page", "each lasts for 12 hours; ten a day for 20 people"),
        Quota.DEFINITIONS: QuotaRule(
            20_000, "definitions that are not erased", "one for each of 50 imports a day, for a year"
        ),
        Quota.PERSONAS: QuotaRule(1_000, "personas", "headers of one are a secret, which costs 0.40 USD a month"),
        Quota.CONNECTORS: QuotaRule(500, "connectors", "headers of one are a secret, which costs 0.40 USD a month"),
        Quota.EVALS: QuotaRule(2_000, "evals", "one for each prompt of a large product"),
        Quota.EXPERIMENTS: QuotaRule(2_000, "experiments", "five a day for a year"),
        Quota.PROFILES: QuotaRule(1_000, "operation profiles", "as many as personas"),
        Quota.SCHEDULES: QuotaRule(200, "schedules", "each starts runs by itself, at most once a minute"),
        Quota.CHATS: QuotaRule(20_000, "chats", "55 a day until they expire after a year"),
        Quota.FILES: QuotaRule(20_000, "files", "one for each scenario of several large evaluations"),
        Quota.FILE_BYTES: QuotaRule(
            50_000_000_000, "bytes of files and uploads", "about 1.20 USD a month in the bucket"
        ),
    }
)


_REMEDIES = {
    Quota.CREATIONS_PER_DAY: "repeat it later",
    Quota.TOKENS: "revoke some",
    Quota.SESSIONS: "revoke some",
    Quota.DEFINITIONS: "erase some",
}
"""A refusal recommends these remedies; for any other quota, it recommends deleting some."""


class Quotas(NamedTuple):
    set_by_operator: Mapping[Quota, int] = MappingProxyType({})

    @classmethod
    def parse(cls, text: str) -> "Quotas":
        """Read `name=number,…`. Raises ValueError for an unknown name, or anything but a whole number from 0."""
        values: dict[Quota, int] = {}
        for entry in filter(None, (each.strip() for each in text.split(","))):
            name, _, number = entry.partition("=")
            if not number.isascii() or not number.isdigit():
                raise ValueError(f"{entry}: a quota is set as name=number")
            values[Quota(name)] = int(number)
        return cls(MappingProxyType(values))

    def limit(self, quota: Quota) -> int:
        return self.set_by_operator.get(quota, QUOTAS[quota].default)

    @property
    def requests(self) -> RequestLimit:
        per_second = max(1, self.limit(Quota.REQUESTS_PER_SECOND))
        return RequestLimit(per_second, per_second * _BURST_SECONDS)

    @property
    def waiting(self) -> WaitingLimits:
        return WaitingLimits(
            per_owner=self.limit(Quota.WAITING_REQUESTS_PER_TOKEN), total=self.limit(Quota.WAITING_REQUESTS)
        )


def refusal(quota: Quota, limit: int) -> str:
    remedy = _REMEDIES.get(quota, "delete some")
    return (
        f"the workspace may have at most {limit:,} {QUOTAS[quota].what}; {remedy}, or ask the operator of this stack "
        f"to raise the quota {quota}"
    )
