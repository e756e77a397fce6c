"""How many processes the embedded cloud starts for a function behind the gateway."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import SimpleNamespace
from typing import Any

import pytest

from cupel.stack.durability.processes import (
    MAX_PROCESSES,
    BoundedProcesses,
    Line,
    bound_processes,
    current_group,
    group_of,
)
from tests.conftest import template

API = "cupel-api"
SOON, NEVER = 0.0, 3_600.0


class Emulator:
    """Its processes, as `acquire_worker` and `release_worker` hand them out."""

    def __init__(self) -> None:
        self.workers: list[Any] = []
        self.lock = threading.Lock()

    def acquire(
        self, func_name: str, _config: object, _code: bytes, qualifier: str, max_concurrency: int | None = None
    ) -> tuple[Any, str]:
        assert qualifier == "$LATEST"
        with self.lock:
            for worker in self.workers:
                if not worker.in_use:
                    worker.in_use = True
                    return worker, "reused"
            if max_concurrency and len(self.workers) >= max_concurrency:
                return None, "func_cap"
            self.workers.append(SimpleNamespace(func_name=func_name, in_use=True, _cold=False))
            return self.workers[-1], "spawn"

    def release(self, worker: Any) -> None:
        with self.lock:
            worker.in_use = False


@pytest.fixture
def emulator() -> Emulator:
    return Emulator()


@pytest.fixture
def in_thread() -> Iterator[Callable[..., Future[Any]]]:
    with ThreadPoolExecutor(64) as pool:
        yield pool.submit


def processes(emulator: Emulator, patience: float, limit: int = 3) -> BoundedProcesses:
    return BoundedProcesses(emulator.acquire, emulator.release, {"api": limit}, patience)


def acquire(bounded: BoundedProcesses, function: str = API) -> Any:
    return bounded.acquire(function, {}, b"")[0]


def test_short_calls_share_a_process(emulator: Emulator, in_thread: Callable[..., Future[Any]]) -> None:
    bounded = processes(emulator, NEVER)

    def call() -> None:
        bounded.release(acquire(bounded))

    for each in [in_thread(call) for _ in range(60)]:
        each.result()
    assert len(emulator.workers) == 1


def test_a_function_gets_another_process_if_none_becomes_free_for_a_while(emulator: Emulator) -> None:
    bounded = processes(emulator, SOON)
    assert acquire(bounded) is not acquire(bounded)


def test_calls_that_wait_leave_no_more_processes_than_the_limit(
    emulator: Emulator, in_thread: Callable[..., Future[Any]]
) -> None:
    bounded = processes(emulator, SOON)
    held = [acquire(bounded) for _ in range(3)]
    waiting = {in_thread(acquire, bounded) for _ in range(5)}
    while waiting:
        bounded.release(held[1])
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        assert [each.result() for each in done] == [held[1]]
    assert len(emulator.workers) == 3


def test_functions_of_queues_are_not_bounded(emulator: Emulator) -> None:
    bounded = processes(emulator, NEVER)
    assert len({id(acquire(bounded, "cupel-probe")) for _ in range(5)}) == 5


def test_every_function_behind_the_gateway_is_bounded() -> None:
    resources = template()["Resources"]
    permitted = [
        each["Properties"]["FunctionName"]["Ref"]
        for each in resources.values()
        if isinstance(each, dict)
        and each["Type"] == "AWS::Lambda::Permission"
        and each["Properties"]["Principal"] == "apigateway.amazonaws.com"
    ]
    names = {resources[each]["Properties"]["FunctionName"]["Fn::Sub"].rpartition("-")[2] for each in permitted}
    assert names == MAX_PROCESSES.keys()


def test_no_further_process_starts_beside_one_that_is_starting(
    emulator: Emulator, in_thread: Callable[..., Future[Any]]
) -> None:
    bounded = processes(emulator, 0.001)
    first = acquire(bounded)
    first._cold = True
    waiting = in_thread(acquire, bounded)
    bounded.release(first)
    assert waiting.result() is first
    first._cold = True
    waiting = in_thread(acquire, bounded)
    assert len(emulator.workers) == 1
    first._cold = False
    assert waiting.result() is not first


def test_a_workspace_with_many_requests_delays_another_by_one() -> None:
    line, calls = Line(), [(group, object()) for group in ["aa"] * 20 + ["bb"] * 2]
    for group, call in calls:
        line.add(group, call)
    order = []
    for _ in range(len(calls)):
        group, call = next(each for each in calls if line.is_next(*each))
        line.remove(group, call)
        calls.remove((group, call))
        order.append(group)
    assert order == ["aa", "bb", "aa", "bb"] + ["aa"] * 18


def test_a_call_knows_the_group_of_its_request(emulator: Emulator) -> None:
    line_groups: list[str] = []
    lambda_service = SimpleNamespace(acquire_worker=emulator.acquire, release_worker=emulator.release)

    def execute(_func: str, event: dict[str, Any], _request_id: str) -> None:
        line_groups.append(current_group())
        assert lambda_service.acquire_worker(API, {}, b"")[0] is emulator.workers[0]
        lambda_service.release_worker(emulator.workers[0])

    lambda_service._execute_function_warm = execute
    bound_processes(lambda_service)
    event = {"requestContext": {"authorizer": {"lambda": {"workspace": "aa"}}}}
    lambda_service._execute_function_warm(API, event, "request")
    assert (line_groups, current_group()) == (["aa"], "")


def test_requests_are_grouped_by_workspace_and_by_token_before_it_is_known() -> None:
    context = {"authorizer": {"lambda": {"workspace": "aa"}}}
    assert group_of({"requestContext": context, "headers": {"authorization": "Bearer x"}}) == "aa"
    assert group_of({"requestContext": {}, "headers": {"authorization": "Bearer x"}}) == "Bearer x"
    assert group_of({"warm": True}) == group_of("text") == ""
