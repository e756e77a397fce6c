"""A worker looks for slices of other workspaces only if others use its queue."""

import time

import pytest

from cupel_core.domain.runs.priority import Priority
from cupel_core.domain.runs.run import Action
from cupel_core.runs.probing.slice_receiver import is_shared
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import queues, runs
from cupel_core.store.queues import Delivery
from tests.started_runs import NOW, RunSetup, ref_of

pytestmark = pytest.mark.usefixtures("cloud")


def test_runs_of_one_workspace_share_nothing() -> None:
    RunSetup(workspace="own").start()
    RunSetup(workspace="own").start()
    assert not is_shared("sim", Priority.NORMAL)


def test_two_workspaces_share_a_queue() -> None:
    RunSetup(workspace="own").start()
    RunSetup(workspace="other").start()
    assert is_shared("sim", Priority.NORMAL)


@pytest.mark.parametrize(
    ("lane", "priority"), [("openai", Priority.NORMAL), ("sim", Priority.HIGH), ("connector", Priority.NORMAL)]
)
def test_runs_of_other_queues_do_not_count(lane: str, priority: Priority) -> None:
    RunSetup(workspace="own").start()
    RunSetup(workspace="other").start()
    assert not is_shared(lane, priority)


def test_servers_of_the_users_own_share_one_queue() -> None:
    RunSetup(workspace="own", models=("custom-a/m",)).start()
    RunSetup(workspace="other", models=("custom/m",)).start()
    assert is_shared("custom", Priority.NORMAL)


def test_a_paused_run_does_not_count() -> None:
    RunSetup(workspace="own").start()
    paused = RunSetup(workspace="other").start()
    runs.transition(ref_of(paused), Action.PAUSE, NOW)
    assert not is_shared("sim", Priority.NORMAL)


def test_an_ended_run_does_not_count() -> None:
    RunSetup(workspace="own").start()
    cancelled = RunSetup(workspace="other").start()
    runs.transition(ref_of(cancelled), Action.CANCEL, NOW)
    assert not is_shared("sim", Priority.NORMAL)


@pytest.mark.parametrize("has_others", [False, True])
async def test_a_worker_receives_to_look_only_if_others_use_its_queue(
    monkeypatch: pytest.MonkeyPatch, has_others: bool
) -> None:
    RunSetup(workspace="own").start()
    if has_others:
        RunSetup(workspace="other").start()
    received = list[str]()

    def receive(url: str, *_: object) -> list[Delivery]:
        received.append(url)
        return []

    monkeypatch.setattr(queues, "receive", receive)
    receiver = Worker("sim", time.time() + 600, receive_wait_seconds=0)._receiver
    receiver.start_looking()
    assert receiver._task
    await receiver._task
    assert len(received) == has_others
