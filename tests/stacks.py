"""A whole stack for the session: the embedded cloud on a port of its own, its data in a directory that goes away.

Beside it, a model server for the providers to talk to. Named by tests/conftest.py, so that all tests share them.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config

from cupel.client import Client
from cupel.stack import lifecycle
from cupel.stack.address import Local
from cupel.stack.emulator import any_free_port
from cupel.stack.paths import Place

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Shares the build with every other stack of this repository; a current one is used as it is."""
    return Place(ROOT, tmp_path_factory.mktemp("stack"))


@pytest.fixture(scope="session")
def stack(place: Place) -> Iterator[Local]:
    try:
        yield lifecycle.up(place, any_free_port(), print)
    finally:
        lifecycle.down(place, discard=True)


@pytest.fixture(scope="session")
def api(stack: Local) -> Iterator[Client]:
    """The API of the stack, as its first admin."""
    with Client(stack.api_url, stack.token) as client:
        yield client


@pytest.fixture(scope="session")
def aws(stack: Local) -> Callable[[str], Any]:
    """`aws("sqs")`: a client of one of the stack's services."""

    def client(service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=stack.endpoint_url,
            region_name=stack.region,
            aws_access_key_id="local",
            aws_secret_access_key="local",
            config=Config(proxies={}, retries={"total_max_attempts": 1}),
        )

    return client


class ModelServer:
    """The bench's model server, from the side of a test."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, trust_env=False)

    def behave(self, **behaviour: Any) -> None:
        """Fields of bench.model_server.Behaviour, in camelCase."""
        self._http.post("/configure", json=behaviour).raise_for_status()

    def forget(self) -> None:
        """As it was at its start, and nothing counted."""
        self.behave(latencySeconds=0, rates={}, retryAfterSeconds=1, seed=1, answer=None, script=[])
        self._http.post("/reset").raise_for_status()

    def counts(self) -> dict[str, Any]:
        found: dict[str, Any] = self._http.get("/counts").json()
        return found

    def close(self) -> None:
        self._http.close()


@pytest.fixture(scope="session")
def model_server() -> Iterator[ModelServer]:
    command = [sys.executable, "-m", "bench.model_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        server = ModelServer(json.loads(process.stdout.readline())["url"])
        try:
            yield server
        finally:
            server.close()
            process.terminate()


@pytest.fixture
def models(model_server: ModelServer, api: Client) -> ModelServer:
    """A model server that answers at once, behind `custom/<any name>` and 50 parallel requests."""
    model_server.forget()
    api.configure_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": 50})
    return model_server
