"""The environment of a function, read once. A test compares these fields with the variables in template.yaml."""

import os
from functools import cache

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True)

    stack_name: str = "cupel"
    table_name: str
    bucket_name: str
    dispatch_queue_url: str
    generate_queue_url: str
    finish_machine_arn: str = ""
    allowed_origins: str = ""
    """Comma-separated; CORS answers no other origin."""
    transcript_retention_days: int = 365
    """0 keeps transcripts for ever."""
    probe_workers: int = 2
    """Concurrent probe invocations per provider (the event source mapping's MaximumConcurrency)."""
    call_timeout_seconds: float = 60.0
    """A model call that takes longer is an error; a probe starts only while an invocation has more time than this."""
    oidc_issuer: str = ""
    oidc_audience: str = ""

    def probe_queue_url(self, provider: str) -> str:
        """The stack names its queues `<stack>-dispatch` and `<stack>-probe-<provider>`: one prefix serves all."""
        return f"{self.dispatch_queue_url.removesuffix('dispatch')}probe-{provider}"

    def probe_dlq_url(self, provider: str) -> str:
        return f"{self.probe_queue_url(provider)}-dlq"

    def queue_url(self, arn: str) -> str:
        """The URL of a queue of this stack, from its ARN."""
        return f"{self.dispatch_queue_url.rpartition('/')[0]}/{arn.rpartition(':')[2]}"

    @property
    def origins(self) -> tuple[str, ...]:
        return tuple(origin.strip() for origin in self.allowed_origins.split(",") if origin.strip())


@cache
def settings() -> Settings:
    present = {name: os.environ[name.upper()] for name in Settings.model_fields if name.upper() in os.environ}
    return Settings.model_validate(present)
