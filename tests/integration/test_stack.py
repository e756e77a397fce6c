"""What `cupel up` leaves behind: a stack that answers, guarded, current, and the same when asked again."""

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

from cupel.errors import WrongUse
from cupel.stack import lifecycle
from cupel.stack.address import Local
from cupel.stack.paths import Place
from cupel_core.providers import PROVIDERS

FUNCTIONS = ("api", "authorize", "dispatch", "probe", "finish", "generate", "schedule", "sweep")
PROBLEM = "application/problem+json"


def test_health_needs_no_token(stack: Local) -> None:
    answer = httpx.get(f"{stack.api_url}/v1/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


def test_the_api_document_needs_no_token(stack: Local) -> None:
    assert httpx.get(f"{stack.api_url}/v1/openapi.json").json()["openapi"].startswith("3.")


def test_the_token_opens_the_api(stack: Local) -> None:
    answer = httpx.get(f"{stack.api_url}/v1/runs", headers={"Authorization": f"Bearer {stack.token}"})
    assert (answer.status_code, set(answer.json())) == (200, {"items", "nextCursor"})


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer cupel_wrong"}, {"Authorization": "Basic eA=="}])
def test_without_a_good_token_the_answer_is_a_problem_document(stack: Local, headers: dict[str, str]) -> None:
    answer = httpx.get(f"{stack.api_url}/v1/runs", headers=headers)
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (401, PROBLEM)


def test_preflight_needs_no_token(stack: Local) -> None:
    origin = "http://localhost:5173"
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    answer = httpx.options(f"{stack.api_url}/v1/runs", headers=asked)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, origin)


def test_only_this_user_may_read_the_token(stack: Local, place: Place) -> None:
    assert json.loads(place.local_file.read_text())["token"] == stack.token
    assert stat.S_IMODE(place.local_file.stat().st_mode) == 0o600


def test_every_provider_has_a_queue_with_an_enabled_source(stack: Local, aws: Callable[[str], Any]) -> None:
    sources = aws("lambda").list_event_source_mappings()["EventSourceMappings"]
    queues = {source["EventSourceArn"].rpartition(":")[2] for source in sources if source["State"] == "Enabled"}
    lanes = (f"probe-{name}{suffix}" for name in PROVIDERS for suffix in ("", "-high", "-low"))
    expected = ["dispatch", "generate", *lanes]
    assert queues == {f"{stack.stack_name}-{name}" for name in expected}


def test_up_again_changes_nothing(stack: Local, place: Place) -> None:
    told: list[str] = []
    assert lifecycle.up(place, None, told.append) == stack
    assert told == []


@pytest.mark.usefixtures("stack")
def test_another_port_is_refused_while_the_stack_runs(place: Place) -> None:
    with pytest.raises(WrongUse, match="the stack runs on port"):
        lifecycle.up(place, 1024, print)


def test_the_stack_stands_and_is_current(stack: Local, place: Place) -> None:
    standing = lifecycle.standing(place)
    assert standing
    assert (standing.local, standing.is_current) == (stack, True)


@pytest.mark.usefixtures("stack")
def test_nothing_listens_beyond_this_machine(place: Place) -> None:
    standing = lifecycle.standing(place)
    assert standing
    sockets = psutil.Process(standing.emulator.pid).net_connections("tcp")
    listening = [socket.laddr for socket in sockets if socket.status == psutil.CONN_LISTEN]
    assert [(address.ip, address.port) for address in listening] == [("127.0.0.1", standing.emulator.port)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_imports_from_the_built_layer_alone(stack: Local, place: Place, function: str) -> None:
    """The emulator's workers see its own packages too, so a requirement that is missing on AWS would pass there."""
    code = place.build / f"{function.capitalize()}Function"
    layer = place.build / "SharedLayer" / "python"
    script = f"import sys; sys.path[:0] = [{str(code)!r}, {str(layer)!r}]; import {function}.app as app; app.handler"
    imported = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        env={"AWS_DEFAULT_REGION": stack.region},
        capture_output=True,
        text=True,
        check=False,
    )
    assert imported.returncode == 0, imported.stderr


@pytest.mark.usefixtures("stack")
def test_the_layer_is_at_most_60_megabytes(place: Place) -> None:
    files = [path for path in (place.build / "SharedLayer").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 60_000_000


@pytest.mark.usefixtures("stack")
def test_the_layer_is_compiled(place: Place) -> None:
    layer = place.build / "SharedLayer" / "python" / "cupel_core"
    assert sorted(compiled_sources(layer)) == sorted(path for path in layer.rglob("*.py"))


def compiled_sources(folder: Path) -> list[Path]:
    return [path.parent.parent / f"{path.name.split('.')[0]}.py" for path in folder.rglob("__pycache__/*.pyc")]
