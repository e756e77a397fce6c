import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cupel.client import Client
from cupel.json_types import Json
from cupel_core.domain.runs.run import RunStatus

POLL_SECONDS = 2.0
PAUSE_SECONDS = 8.0
"""Within 5 s after a pause, workers may still start conversations, and they report them within 3 s."""
_WITH_RUNNING_PROBES = (RunStatus.PENDING, RunStatus.RUNNING, RunStatus.PAUSED)
"""Conversations in flight end after a pause."""


@dataclass(frozen=True)
class RunProcessor:
    """Starts and stops the processing of this workspace's probes: with one provider, or with all if it is None.

    There is no process to start: a stack works as long as its queues are not paused. Stopped processing stays stopped
    for every client until it is started again, and nothing is lost.
    """

    client: Client
    provider: str | None = None
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic

    def start(self) -> None:
        self.client.resume_queues(self.provider)

    def stop(self, timeout_seconds: float | None = None) -> bool:
        """Start no further conversation, and wait until those in flight have ended. Return False after the timeout.

        Long conversations end at their next call: they continue after `start` where they were.
        """
        self.client.pause_queues(self.provider)
        paused_at = self.now() + PAUSE_SECONDS
        return self._wait_until(lambda: self.now() >= paused_at and self.active_count() == 0, timeout_seconds)

    def is_running(self) -> bool:
        return any(not queue["paused"] for queue in self._queues())

    def active_count(self) -> int:
        return sum(target["running"] for target in self._targets() if self._is_selected(target["target"]))

    def is_idle(self) -> bool:
        queues = list(self._queues())
        if any(queue["pending"] and not queue["paused"] for queue in queues):
            return False
        return not any(queue["pending"] for queue in queues) or self.active_count() == 0

    def wait_until_idle(self, timeout_seconds: float | None = None) -> bool:
        """Wait, and return False after the timeout. Runs may still be finishing: `Client.get_run` shows this."""
        return self._wait_until(self.is_idle, timeout_seconds)

    def _queues(self) -> Iterator[Json]:
        return self.client.list_queues(provider=self.provider)

    def _targets(self) -> Iterator[Json]:
        for status in _WITH_RUNNING_PROBES:
            for run in self.client.list_runs(status=status):
                yield from self.client.get_run_progress(run["id"])["targets"]

    def _is_selected(self, target: str) -> bool:
        return self.provider is None or target.partition("/")[0] == self.provider

    def _wait_until(self, condition: Callable[[], bool], timeout_seconds: float | None) -> bool:
        deadline = None if timeout_seconds is None else self.now() + timeout_seconds
        while not condition():
            if deadline is not None and self.now() >= deadline:
                return False
            self.sleep(POLL_SECONDS)
        return True
