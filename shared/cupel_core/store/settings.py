"""A function's environment variables, read once. A test compares these fields with the variables in template.yaml."""

import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple, cast

from cupel_core.base.deferred import dataclass
from cupel_core.domain.limits.quotas import Quotas
from cupel_core.domain.limits.request_rate import LimitScope, RequestLimit
from cupel_core.domain.runs.priority import Priority


class Lane(NamedTuple):
    """One of a provider's three queues. The queue of normal priority is named after the provider alone."""

    provider: str
    priority: Priority

    @classmethod
    def from_arn(cls, arn: str) -> "Lane":
        """Return the lane of a queue's ARN. Providers with queues have no hyphen in their names."""
        provider, _, priority = arn.rpartition("-probe_")[2].partition("-")
        return cls(provider, Priority(priority.upper()) if priority else Priority.NORMAL)

    @property
    def name(self) -> str:
        return self.provider if self.priority is Priority.NORMAL else f"{self.provider}-{self.priority.lower()}"


@dataclass(frozen=True)
class Settings:
    table_name: str
    bucket_name: str
    dispatch_queue_url: str
    generate_queue_url: str
    stack_name: str = "cupel"
    finish_machine_arn: str = ""
    schedule_function_arn: str = ""
    schedule_role_arn: str = ""
    schedule_dead_letters_arn: str = ""
    providers: str = ""
    """Comma-separated names of the providers that have queues. Empty means all."""
    kms_key_arn: str = ""
    """The customer managed key of secrets. Empty means the default key of Secrets Manager."""
    edge_secret_sha256: str = ""
    """If set, requests must carry the header whose value has this digest. They come through `deploy/edge.yaml`."""
    allowed_origins: str = ""
    """Comma-separated origins. CORS allows no other origin."""
    transcript_retention_days: int = 365
    """0 keeps transcripts forever."""
    call_timeout_seconds: float = 120.0
    """The time limit of one model call. A probe starts only if its invocation has more time left than this."""
    probe_workers: int = 2
    """The number of concurrent invocations of the probe function for each of a provider's queues."""
    bedrock_models: str = ""
    """Comma-separated patterns, with `*`, of the Bedrock models that every workspace may call as the stack's role. The
    role's account pays. Empty allows no model."""
    allow_private_endpoints: bool = False
    """If true, connectors, webhooks, evaluators and providers may have addresses in a private network."""
    requests_per_second: float = 50.0
    """One token or user may send this many requests per second, and `request_burst` at once."""
    request_burst: int = 100
    workspace_turns: int = 16
    """One workspace may have this many turns of chats in progress."""
    workspace_parallel_requests: int = 1_000
    """The workspace may have this many calls to one provider in flight, even if it sets a higher number."""
    workspace_quotas: Quotas = Quotas()
    """Limits of what one workspace may use (cupel_core/domain/limits/quotas.py)."""
    max_waiting_requests: int = 200
    """Number of requests of all workspaces that may wait at a time. Each takes an execution environment."""
    oidc_issuer: str = ""
    oidc_audience: str = ""
    oidc_client_id: str = ""
    """The client id of the web page, whose users send the ID tokens that were issued for it."""
    oidc_origins: str = ""

    @property
    def oidc_audiences(self) -> tuple[str, ...]:
        return tuple(each for each in (self.oidc_audience, self.oidc_client_id) if each)

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> "Settings":
        """Read the variables. Unset ones have their defaults. Raise ValueError with those that are missing or
        invalid."""
        values: dict[str, Any] = {}
        wrong = []
        for each in fields(cls):
            variable, kind = each.name.upper(), cast("type", each.type)
            if variable in variables:
                try:
                    values[each.name] = _PARSERS[kind](variables[variable])
                except ValueError:
                    wrong.append(f"{variable} is no {kind.__name__}: {variables[variable]!r}")
            elif each.default is MISSING:
                wrong.append(f"{variable} is not set")
        if wrong:
            raise ValueError("; ".join(wrong))
        return cls(**values)

    @property
    def retention(self) -> timedelta | None:
        """Return how long the content of conversations is stored. None means forever."""
        return timedelta(days=self.transcript_retention_days) if self.transcript_retention_days else None

    @property
    def request_limit(self) -> RequestLimit:
        return RequestLimit(self.requests_per_second, self.request_burst)

    def request_limit_of(self, scope: LimitScope) -> RequestLimit:
        return self.request_limit if scope is LimitScope.TOKEN else self.workspace_quotas.requests

    def probe_queue_url(self, provider: str, priority: Priority = Priority.NORMAL) -> str:
        """Return the URL of a queue, which is named `<stack>-probe_<provider>[-high|-low]`, from the URL of
        `<stack>-dispatch`."""
        return f"{self.dispatch_queue_url.removesuffix('dispatch')}probe_{Lane(provider, priority).name}"

    def probe_dlq_url(self, provider: str, priority: Priority = Priority.NORMAL) -> str:
        return f"{self.probe_queue_url(provider, priority)}-dlq"

    @property
    def notify_queue_url(self) -> str:
        """Return the URL of the queue for calls of webhooks. Its name differs from the dispatch queue's in the last
        part only."""
        return f"{self.dispatch_queue_url.removesuffix('dispatch')}notify"

    @property
    def analyze_queue_url(self) -> str:
        """Return the URL of the queue for jobs that compare or analyze runs, which is named after the same scheme."""
        return f"{self.dispatch_queue_url.removesuffix('dispatch')}analyze"

    @property
    def turn_queue_url(self) -> str:
        """Return the URL of the queue for turns of chats, which is named after the same scheme."""
        return f"{self.dispatch_queue_url.removesuffix('dispatch')}turn"

    @property
    def score_machine_arn(self) -> str:
        """Return the ARN. The stack's two state machines differ only in the last part of their name: `finish` and
        `score`."""
        return f"{self.finish_machine_arn.removesuffix('finish')}score"

    def queue_url(self, arn: str) -> str:
        return f"{self.dispatch_queue_url.rpartition('/')[0]}/{arn.rpartition(':')[2]}"

    def has_queues(self, provider: str) -> bool:
        """Return whether the stack can evaluate this provider's models. Judges and simulated users need no queue."""
        return not self.providers or provider in self.providers.split(",")

    def may_call_as_role(self, bedrock_model: str) -> bool:
        """Return whether workspaces without a key of their own may call the model that has this name at Bedrock."""
        patterns = (pattern.strip() for pattern in self.bedrock_models.split(","))
        return any(fnmatchcase(bedrock_model, pattern) for pattern in patterns if pattern)

    @property
    def origins(self) -> tuple[str, ...]:
        return tuple(origin.strip() for origin in self.allowed_origins.split(",") if origin.strip())


def _flag(text: str) -> bool:
    flags = {"true": True, "false": False}
    if text.lower() not in flags:
        raise ValueError(text)
    return flags[text.lower()]


_PARSERS: Mapping[type, Callable[[str], Any]] = {str: str, int: int, float: float, bool: _flag, Quotas: Quotas.parse}


@cache
def settings() -> Settings:
    return Settings.read(os.environ)
