from collections.abc import AsyncIterator, Iterator

import pytest

from cupel_core.providers import safe_http
from cupel_core.store.settings import Settings, settings
from cupel_core.workspace.webhooks import configuration
from cupel_core.workspace.webhooks.configuration import WebhookSpec
from tests.started_runs import NOW
from tests.unit.workspace.webhooks.receivers import Receiver, receiving

SECRET = "whsec_" + "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
WORKSPACE = "ws_a"


@pytest.fixture
def private_addresses(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The receiver of these tests is at a loopback address."""
    monkeypatch.setenv("ALLOW_PRIVATE_ENDPOINTS", "true")
    settings.cache_clear()
    configuration.load_secret.cache_clear()
    yield
    configuration.load_secret.cache_clear()


@pytest.fixture
async def receiver(private_addresses: None) -> AsyncIterator[Receiver]:
    """A receiver that is the workspace's webhook, for probes too."""
    async with receiving() as receiver:
        set_webhook(receiver.url)
        yield receiver
        await safe_http.close()


def set_webhook(url: str, *, enabled: bool = True, probes: bool = True) -> None:
    configuration.put(WORKSPACE, WebhookSpec(url, enabled, probes, SECRET, reuses_secret=False), NOW)
