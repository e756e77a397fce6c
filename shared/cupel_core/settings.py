"""A function's environment variables, read once. A test compares these fields with the variables in template.yaml."""

import os
from datetime import timedelta
from functools import cache
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from cupel_core.domain.limits.request_rate import RequestLimit
from cupel_core.domain.runs.priority import Priority


class Lane(NamedTuple):
    """One of a provider's three queues. The one of normal priority is named after the provider alone."""

    provider: str
    priority: Priority

    @classmethod
    def from_arn(cls, arn: str) -> "Lane":
        """The lane of a queue's ARN. Providers with queues have no hyphen in their names."""
        provider, _, priority = arn.rpartition("-probe_")[2].partition("-")
        return cls(provider, Priority(priority.upper()) if priority else Priority.NORMAL)

    @property
    def name(self) -> str:
        return self.provider if self.priority is Priority.NORMAL else f"{self.provider}-{self.priority.lower()}"


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True)

    stack_name: str = "cupel"
    table_name: str
    bucket_name: str
    dispatch_queue_url: str
    generate_queue_url: str
    finish_machine_arn: str = ""
    schedule_function_arn: str = ""
    schedule_role_arn: str = ""
    """The role EventBridge Scheduler assumes to call the function."""
    schedule_dead_letters_arn: str = ""
    providers: str = ""
    """Comma-separated names of the providers that have queues; empty for all."""
    kms_key_arn: str = ""
    """Customer managed key of secrets; empty for the key of Secrets Manager."""
    edge_secret_sha256: str = ""
    """If set, requests must carry the header whose value has this digest; they come through `deploy/edge.yaml`."""
    allowed_origins: str = ""
    """Comma-separated; CORS allows no other origin."""
    transcript_retention_days: int = 365
    """0 keeps transcripts forever."""
    call_timeout_seconds: float = 120.0
    """Limit of one model call; a probe starts only if its invocation has more time left than this."""
    probe_workers: int = 2
    """Invocations of the probe function at a time, for each of a provider's queues."""
    allow_private_endpoints: bool = False
    """Whether connectors, webhooks, evaluators and providers may have addresses in a private network."""
    requests_per_second: float = 50.0
    """Of one token or user; `request_burst` may be sent at once."""
    request_burst: int = 100
    oidc_issuer: str = ""
    oidc_audience: str = ""

    @property
    def retention(self) -> timedelta | None:
        """How long the content of conversations is stored; None means forever."""
        return timedelta(days=self.transcript_retention_days) if self.transcript_retention_days else None

    @property
    def request_limit(self) -> RequestLimit:
        return RequestLimit(self.requests_per_second, self.request_burst)

    def probe_queue_url(self, provider: str, priority: Priority = Priority.NORMAL) -> str:
        """Queues are named `<stack>-dispatch` and `<stack>-probe_<provider>[-high|-low]`: one URL is enough."""
        return f"{self.dispatch_queue_url.removesuffix('dispatch')}probe_{Lane(provider, priority).name}"

    def probe_dlq_url(self, provider: str, priority: Priority = Priority.NORMAL) -> str:
        return f"{self.probe_queue_url(provider, priority)}-dlq"

    @property
    def notify_queue_url(self) -> str:
        """Calls of webhooks; its name differs from the dispatch queue's in the last part only."""
        return f"{self.dispatch_queue_url.removesuffix('dispatch')}notify"

    @property
    def analyze_queue_url(self) -> str:
        """Jobs that compare or analyze runs; named like the dispatch queue but for the last part."""
        return f"{self.dispatch_queue_url.removesuffix('dispatch')}analyze"

    @property
    def turn_queue_url(self) -> str:
        """Turns of chats; named like the dispatch queue but for the last part."""
        return f"{self.dispatch_queue_url.removesuffix('dispatch')}turn"

    @property
    def score_machine_arn(self) -> str:
        """The stack's two state machines differ only in the last part of their name: `finish` and `score`."""
        return f"{self.finish_machine_arn.removesuffix('finish')}score"

    def queue_url(self, arn: str) -> str:
        """The URL of a queue of this stack, from its ARN."""
        return f"{self.dispatch_queue_url.rpartition('/')[0]}/{arn.rpartition(':')[2]}"

    def has_queues(self, provider: str) -> bool:
        """Whether the stack can evaluate this provider's models. Judges and simulated users need no queue."""
        return not self.providers or provider in self.providers.split(",")

    @property
    def origins(self) -> tuple[str, ...]:
        return tuple(origin.strip() for origin in self.allowed_origins.split(",") if origin.strip())


@cache
def settings() -> Settings:
    """The settings of this process; unset variables take their defaults, required ones raise ValidationError."""
    present = {name: os.environ[name.upper()] for name in Settings.model_fields if name.upper() in os.environ}
    return Settings.model_validate(present)
