"""The stack created by `cupel up`: it responds, requires tokens, is up to date, and `cupel up` is idempotent."""

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from cupel.errors import UsageError
from cupel.stack import lifecycle
from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from cupel_core.domain.access import AccessRole
from cupel_core.providers import QUEUES

FUNCTIONS = ("api", "authorize", "dispatch", "probe", "finish", "generate", "schedule", "sweep")
PROBLEM = "application/problem+json"


def test_health_needs_no_token(stack: LocalStack) -> None:
    response = httpx.get(f"{stack.api_url}/v1/health")
    assert (response.status_code, response.json()["status"]) == (200, "ok")


def test_the_api_document_needs_no_token(stack: LocalStack) -> None:
    document = httpx.get(f"{stack.api_url}/v1/openapi.json")
    assert document.json()["openapi"].startswith("3.")


def test_the_token_is_accepted(stack: LocalStack) -> None:
    response = httpx.get(f"{stack.api_url}/v1/runs", headers={"Authorization": f"Bearer {stack.token}"})
    assert (response.status_code, set(response.json())) == (200, {"items", "nextCursor"})


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer cupel_wrong"}, {"Authorization": "Basic eA=="}])
def test_an_invalid_token_gets_a_problem_document(stack: LocalStack, headers: dict[str, str]) -> None:
    response = httpx.get(f"{stack.api_url}/v1/runs", headers=headers)
    assert (response.status_code, response.headers["content-type"].split(";")[0]) == (401, PROBLEM)


def test_preflight_needs_no_token(stack: LocalStack) -> None:
    origin = "http://localhost:5173"
    preflight = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    response = httpx.options(f"{stack.api_url}/v1/runs", headers=preflight)
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (204, origin)


def test_only_the_current_user_may_read_the_token(stack: LocalStack, stack_paths: StackPaths) -> None:
    assert json.loads(stack_paths.local_file.read_text())["token"] == stack.token
    assert stat.S_IMODE(stack_paths.local_file.stat().st_mode) == 0o600


def test_every_provider_has_a_queue_with_an_enabled_source(stack: LocalStack, aws: Callable[[str], Any]) -> None:
    sources = aws("lambda").list_event_source_mappings()["EventSourceMappings"]
    queues = {source["EventSourceArn"].rpartition(":")[2] for source in sources if source["State"] == "Enabled"}
    lanes = (f"probe_{name}{suffix}" for name in QUEUES for suffix in ("", "-high", "-low"))
    expected = ["analyze", "dispatch", "generate", "notify", "turn", *lanes]
    assert queues == {f"{stack.stack_name}-{name}" for name in expected}


def test_a_second_up_changes_nothing(stack: LocalStack, stack_paths: StackPaths) -> None:
    messages: list[str] = []
    assert lifecycle.up(stack_paths, None, messages.append) == stack
    assert messages == []


@pytest.mark.usefixtures("stack")
def test_another_port_is_refused_while_the_stack_runs(stack_paths: StackPaths) -> None:
    with pytest.raises(UsageError, match="the stack runs on port"):
        lifecycle.up(stack_paths, 1024, print)


def test_the_stack_is_deployed_and_current(stack: LocalStack, stack_paths: StackPaths) -> None:
    status = lifecycle.get_status(stack_paths)
    assert status
    assert (status.local, status.is_current) == (stack, True)


def test_a_second_workspace_takes_one_request(stack: LocalStack, stack_paths: StackPaths) -> None:
    first = lifecycle.issue_first_token(stack_paths, "second", "first admin", AccessRole.ADMIN)
    assert first.api_url == stack.api_url
    answer = httpx.get(f"{first.api_url}/v1/tokens", headers={"Authorization": f"Bearer {first.secret}"})
    assert [token["id"] for token in answer.json()["items"]] == [first.token_id]


@pytest.mark.usefixtures("stack")
def test_the_emulator_and_its_workers_listen_on_two_ports_of_the_loopback_interface(stack_paths: StackPaths) -> None:
    status = lifecycle.get_status(stack_paths)
    assert status
    process = psutil.Process(status.emulator.pid)
    sockets = [each for one in (process, *process.children(recursive=True)) for each in one.net_connections("inet")]
    listening = {(each.laddr.ip, each.laddr.port) for each in sockets if each.status == psutil.CONN_LISTEN}
    assert listening == {("127.0.0.1", status.emulator.port), ("127.0.0.1", status.emulator.objects_port)}


LAYERS = {"analyze": ("SharedLayer", "NumericLayer")}
"""Of functions with another one than the shared layer."""


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_imports_with_only_the_built_layers(
    stack: LocalStack, stack_paths: StackPaths, function: str
) -> None:
    """The emulator's workers also see its packages, so a missing requirement would go unnoticed there."""
    code = stack_paths.build / f"{function.capitalize()}Function"
    layers = [str(stack_paths.build / layer / "python") for layer in LAYERS.get(function, ("SharedLayer",))]
    script = f"import sys; sys.path[:0] = {[str(code), *layers]}; import entry; entry.{function}"
    imported = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        env={"AWS_DEFAULT_REGION": stack.region},
        capture_output=True,
        text=True,
        check=False,
    )
    assert imported.returncode == 0, imported.stderr


@pytest.mark.usefixtures("stack")
def test_the_layer_is_at_most_60_megabytes(stack_paths: StackPaths) -> None:
    assert size_of(stack_paths.build / "SharedLayer") <= 60_000_000


@pytest.mark.usefixtures("stack")
def test_the_layer_of_numpy_is_at_most_46_megabytes(stack_paths: StackPaths) -> None:
    assert size_of(stack_paths.build / "NumericLayer") <= 46_000_000


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("stack")
def test_the_layer_is_compiled(stack_paths: StackPaths) -> None:
    layer = stack_paths.build / "SharedLayer" / "python" / "cupel_core"
    assert sorted(compiled_sources(layer)) == sorted(path for path in layer.rglob("*.py"))


def compiled_sources(folder: Path) -> list[Path]:
    return [path.parent.parent / f"{path.name.split('.')[0]}.py" for path in folder.rglob("__pycache__/*.pyc")]
