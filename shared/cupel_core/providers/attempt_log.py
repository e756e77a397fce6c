"""The failed attempts of the calls of one conversation, over all deliveries, workers and restarts.

`maxAttempts` bounds the cost of a call. A worker that runs out of time, or dies, must not begin to count again: the log
is stored with the conversation's checkpoint after each failed attempt, before the next one is made. A message names the
probes that were begun before (`begun`); only those have a checkpoint to read.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.attempts import AttemptInFlight, FailedAttempts
from cupel_core.domain.conversations.model_request import ModelRequest
from cupel_core.providers.errors import ProviderError

_MAX_MESSAGE_LENGTH = 500


async def _save_nothing() -> None:
    return


class AttemptLog:
    """Records the failed attempts by call. A call without any has no entry."""

    def __init__(self) -> None:
        self._failed: dict[str, FailedAttempts] = {}
        self._open: dict[str, AttemptInFlight] = {}
        self._save: Callable[[], Awaitable[None]] = _save_nothing
        self.first_call_at: float | None = None
        """The Unix time of the first call since the conversation began or was resumed."""

    @property
    def open_calls(self) -> Collection[AttemptInFlight]:
        return self._open.values()

    @contextmanager
    def in_flight(self, model: str, request: ModelRequest, max_attempts: int) -> Iterator[None]:
        key = _key(_described(model, request))
        failed, now = self._failed.get(key), utc_now().timestamp()
        self._open[key] = AttemptInFlight(1 + (failed.number if failed else 0), max_attempts, now)
        self.first_call_at = self.first_call_at or now
        try:
            yield
        finally:
            self._open.pop(key, None)

    @property
    def failed(self) -> Mapping[str, FailedAttempts]:
        return dict(self._failed)

    def resume(self, failed: Mapping[str, FailedAttempts], save: Callable[[], Awaitable[None]]) -> None:
        """Continue with the attempts that were stored. `save` stores the log after each further one."""
        self._failed = {**failed, **self._failed}
        self._save = save

    def of_call(self, model: str, request: ModelRequest) -> "CallAttempts":
        return self.of(_described(model, request))

    def of(self, call: str) -> "CallAttempts":
        return CallAttempts(self, _key(call))

    def failed_attempts(self, key: str) -> FailedAttempts | None:
        return self._failed.get(key)

    async def add(self, key: str, failed: FailedAttempts, *, is_final: bool) -> None:
        """Add a failed attempt. A final one is not saved here, because only its outcome follows."""
        self._failed[key] = failed
        if not is_final:
            await self._save()

    def remove(self, key: str) -> None:
        self._failed.pop(key, None)


def _described(model: str, request: ModelRequest) -> str:
    said = "\x00".join(f"{message.role}\x01{message.text}" for message in request.messages)
    return f"{model} {request.role} {said}"


def _key(call: str) -> str:
    return blake2b(call.encode(errors="replace"), digest_size=9).hexdigest()


class CallAttempts:
    def __init__(self, log: AttemptLog, key: str) -> None:
        self._log = log
        self._key = key

    @property
    def failed(self) -> int:
        failed = self._log.failed_attempts(self._key)
        return failed.number if failed else 0

    def raise_if_used_up(self, max_attempts: int) -> None:
        """Raise the error of the last attempt if no further one may be made."""
        failed = self._log.failed_attempts(self._key)
        if failed is not None and failed.number >= max_attempts:
            raise ProviderError(failed.code, failed.message, attempts=failed.number, final=True)

    async def note_failure(self, error: ProviderError, *, is_final: bool) -> None:
        failed = FailedAttempts(self.failed + 1, error.code, error.message[:_MAX_MESSAGE_LENGTH])
        await self._log.add(self._key, failed, is_final=is_final)

    def note_answer(self) -> None:
        self._log.remove(self._key)
