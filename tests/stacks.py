"""A complete stack for the session: the embedded cloud on a free port, with its data in a temporary directory.

Plus a model server for the providers to call. A plugin of tests/conftest.py, so that all tests share them.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench import local_server
from cupel.client import Client
from cupel.stack import emulator, lifecycle
from cupel.stack.address import LocalStack
from cupel.stack.clients import make_client
from cupel.stack.deploy import DEFAULT_ORIGINS, choose_origins
from cupel.stack.emulator import find_free_port
from cupel.stack.paths import STACK_NAME, StackPaths
from cupel.stack.subprocesses import child_environment, run
from tests.aws_calls import recording

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def stack_paths(tmp_path_factory: pytest.TempPathFactory) -> StackPaths:
    """Shares the build with every other stack of this repository; an up-to-date build is reused."""
    state = tmp_path_factory.mktemp("stack")
    return StackPaths(ROOT, state, recording.variables(state / CALLS_FILE))


CALLS_FILE = "calls.jsonl"
PAGE_ORIGIN = "https://pages.example:8443"
"""Of a web page on another server, which may call the stack."""


@pytest.fixture(scope="session")
def stack(stack_paths: StackPaths) -> Iterator[LocalStack]:
    """At the end, every AWS call that the functions have made must be one that their policies allow."""
    from tests.aws_calls import policies  # reads the template, which most tests do not need

    choose_origins(stack_paths, (*DEFAULT_ORIGINS, PAGE_ORIGIN))
    try:
        yield lifecycle.up(stack_paths, find_free_port(), print)
        calls = recording.read(stack_paths.state / CALLS_FILE, STACK_NAME)
        refused = policies.refused(calls)
        assert not refused, "\n".join(refused)
        recording.update(calls)
    finally:
        lifecycle.down(stack_paths, print, discard=True)


@pytest.fixture(scope="session")
def api(stack: LocalStack) -> Iterator[Client]:
    """A client of the stack's API, with the first admin token."""
    with Client(stack.api_url, stack.token) as client:
        yield client


@pytest.fixture(scope="session")
def other_workspace(stack: LocalStack, stack_paths: StackPaths) -> Iterator[Client]:
    """A client with the first admin token of another workspace."""
    command = ["cupel", "tokens", "bootstrap", "--stack-name", stack.stack_name, "--workspace", "another", "--json"]
    issued = json.loads(run(command, stack_paths, child_environment(stack_paths, stack.access)))
    with Client(stack.api_url, issued["token"]) as client:
        yield client


@pytest.fixture(scope="session")
def aws(stack: LocalStack, stack_paths: StackPaths) -> Callable[[str], Any]:
    """`aws("sqs")` is a client of one of the stack's services, with the key of its last start."""

    def client(service: str) -> Any:
        running = emulator.find_running(stack_paths)
        assert running, f"{stack.endpoint_url} is down"
        return make_client(service, running)

    return client


def table_of(aws: Callable[[str], Any]) -> str:
    """The name of the stack's table."""
    return output_of(aws, "TableName")


def output_of(aws: Callable[[str], Any], name: str) -> str:
    outputs = aws("cloudformation").describe_stacks(StackName=STACK_NAME)["Stacks"][0]["Outputs"]
    return next(str(each["OutputValue"]) for each in outputs if each["OutputKey"] == name)


class ModelServer:
    """The bench model server, as controlled by a test."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, trust_env=False)

    def configure(self, **behaviour: Any) -> None:
        """Set fields of bench.model_server.Behaviour, in camelCase."""
        self._http.post("/configure", json=behaviour).raise_for_status()

    def reset(self) -> None:
        """Restore the initial behaviour and reset the counts."""
        self.configure(
            latencySeconds=0,
            rates={},
            retryAfterSeconds=1,
            seed=1,
            answer=None,
            script=[],
            wordSeconds=0,
            brokenStreams=0,
        )
        self._http.post("/reset").raise_for_status()

    def counts(self) -> dict[str, Any]:
        counts: dict[str, Any] = self._http.get("/counts").json()
        return counts

    def close(self) -> None:
        self._http.close()


@pytest.fixture(scope="session")
def model_server() -> Iterator[ModelServer]:
    with local_server.model_server() as url:
        server = ModelServer(url)
        yield server
        server.close()


@pytest.fixture
def models(model_server: ModelServer, api: Client) -> ModelServer:
    """A model server that replies at once, as the provider of `custom/<any name>` with 50 parallel requests."""
    model_server.reset()
    api.update_provider("custom", {"baseUrl": f"{model_server.url}/v1", "maxParallelRequests": 50})
    return model_server
