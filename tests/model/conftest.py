"""Tests with a real model, and with LiteLLM's proxy; they run only with `make test-model`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.connectors.servers import KEY, litellm_server
from tests.model.servers import LlamaServer


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_requested = any("tests/model" in argument for argument in config.args)
    return True if collection_path.name.startswith("test_") and not is_requested else None


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    server = LlamaServer(tmp_path_factory.mktemp("llama"))
    with server.running():
        yield server


@pytest.fixture(scope="session")
def litellm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What `providers` of an evaluation needs to call it."""
    with litellm_server(tmp_path_factory.mktemp("litellm")) as url:
        yield {"base_url": f"{url}/v1", "api_key": KEY}
