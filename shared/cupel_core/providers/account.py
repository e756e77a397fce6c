"""A workspace's access to one provider."""

from dataclasses import dataclass, field

from cupel_core.domain.resources.connectors import Connector

DEFAULT_PARALLEL_REQUESTS = 50


@dataclass(frozen=True)
class Account:
    provider: str
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    enabled: bool = True
    max_parallel_requests: int = DEFAULT_PARALLEL_REQUESTS
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    connector: Connector | None = None
    """The agent under test, if the provider is `connector`."""
    allow_private: bool = False
    """Whether the agent may have an address in a private network; a setting of the stack."""
