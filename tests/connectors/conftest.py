"""Third-party servers, installed below .cupel/connectors; these tests run only with `make connectors`."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from cupel_core.providers import safe_http
from tests.connectors.servers import KEY, langgraph_server, litellm_server

_SLOW = ("test_langgraph_server.py", "test_openai_server.py", "test_on_a_stack.py")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_requested = any("tests/connectors" in argument for argument in config.args)
    return True if collection_path.name in _SLOW and not is_requested else None


@pytest.fixture(scope="module")
def langgraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with langgraph_server(tmp_path_factory.mktemp("langgraph")) as url:
        yield url


@pytest.fixture(scope="module")
def litellm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The server's URL and API key."""
    with litellm_server(tmp_path_factory.mktemp("litellm")) as url:
        yield f"{url}/v1", KEY


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await safe_http.close()
