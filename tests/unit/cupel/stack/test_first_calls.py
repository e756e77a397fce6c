"""After a start, `cupel up` asks the sweeper to resume lost work, and reports the answer."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from cupel.stack import emulator, first_calls, lifecycle
from cupel.stack.access.signatures import AccessKey
from cupel.stack.emulator import Emulator, find_free_port
from cupel.stack.first_calls import Recovery, resume_lost
from cupel.stack.paths import StackPaths
from tests.conftest import ROOT

STARTED_AT = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)


class FakeLambda:
    """The emulator's Lambda: notes invocations, and answers each with the same result."""

    def __init__(self, result: Any, error: str | None = None) -> None:
        self.result, self.error = result, error
        self.invocations: list[tuple[str, str, Any]] = []
        """Function, type of the invocation, event."""

    @contextmanager
    def serving(self) -> Iterator[Emulator]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                kind = self.headers.get("X-Amz-Invocation-Type", "RequestResponse")
                fake.invocations.append((self.path.split("/")[3], kind, event))
                body = json.dumps(fake.result).encode()
                self.send_response(202 if kind == "Event" else 200)
                if fake.error:
                    self.send_header("X-Amz-Function-Error", fake.error)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                return

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            yield Emulator(0, server.server_address[1], 0, AccessKey.create())
            server.shutdown()


def resume(fake: FakeLambda) -> Recovery:
    with fake.serving() as emulator:
        return resume_lost(emulator, STARTED_AT)


def test_the_sweeper_is_told_once_since_when_nothing_is_lost() -> None:
    fake = FakeLambda({})
    resume(fake)
    assert fake.invocations == [("cupel-sweep", "RequestResponse", {"lostBefore": "2026-11-28T12:00:00+00:00"})]


def test_what_was_resumed_is_counted_by_kind() -> None:
    counts = {"dispatched": 1, "redispatched": 1, "finish-started": 1, "propagated": 4, "turns": 1, "jobs": 0}
    assert resume(FakeLambda(counts)) == Recovery("3 runs, 1 turn")


def test_nothing_is_said_if_nothing_was_interrupted() -> None:
    assert resume(FakeLambda({"turns": 0})) == Recovery("")


def test_a_failed_sweep_does_not_fail_the_start() -> None:
    failed = FakeLambda({"errorMessage": "no table\nTraceback"}, error="Unhandled")
    assert resume(failed) == Recovery("", "no table")


def test_a_cloud_that_does_not_answer_does_not_fail_the_start() -> None:
    assert "Could not connect" in resume_lost(Emulator(0, find_free_port(), 0, AccessKey.create()), STARTED_AT).failure


def test_every_kind_of_work_that_the_sweeper_resumes_has_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from cupel_core.workspace.sweeping.run_recovery import RecoveryAction

    silent = {RecoveryAction.PROPAGATED, RecoveryAction.FINISH_GIVEN_UP, RecoveryAction.RESUMED}
    kinds = {"turns", "dispatched", "rescores", "jobs", "generations", "callbacks", *RecoveryAction}
    assert set(first_calls._KINDS) == kinds - silent


def test_functions_that_no_first_call_needs_are_started_without_waiting_for_them() -> None:
    fake, calls = FakeLambda({}), first_calls.warmup_calls()
    with fake.serving() as emulator:
        first_calls.start_warming(
            emulator, [call for call in calls if call.function not in first_calls.NEEDED_BY_A_CALL]
        )
    assert {kind for _, kind, _ in fake.invocations} == {"Event"}
    assert "cupel-page" in {function for function, _, _ in fake.invocations}


def test_every_worker_of_a_function_is_started() -> None:
    fake = FakeLambda({})
    (probe,) = (call for call in first_calls.warmup_calls() if call.function == "probe")
    with fake.serving() as emulator:
        assert first_calls.warm(emulator, [probe]) == {}
    assert len(fake.invocations) == probe.workers


def test_functions_that_fail_are_named_with_their_error() -> None:
    fake = FakeLambda({"errorMessage": "no module\nTraceback"}, error="Unhandled")
    with fake.serving() as emulator:
        failures = first_calls.warm(emulator, first_calls.warmup_calls()[:1])
    assert failures == {"dispatch": "no module"}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a start of a deployed stack does after the embedded cloud has started, in its order."""
    done: list[str] = []
    running = object()
    monkeypatch.setattr(lifecycle, "sources_digest", lambda _: "digest")
    monkeypatch.setattr(lifecycle, "refresh", lambda _: None)
    monkeypatch.setattr(lifecycle, "is_deployed", lambda *_: True)
    monkeypatch.setattr(emulator, "find_running", lambda _: None)
    monkeypatch.setattr(emulator, "start", lambda *_: running)
    monkeypatch.setattr(lifecycle, "_ensure_token", lambda *_: "local")
    monkeypatch.setattr(lifecycle, "_warm", lambda *_, **__: done.append("warm"))
    monkeypatch.setattr(lifecycle, "_warm_in_background", lambda _: done.append("warm further"))
    monkeypatch.setattr(lifecycle, "_resume", lambda *_: done.append("resume") or Recovery("1 run"))
    return done


@pytest.mark.parametrize(("resumed", "further"), [("", ["warm further"]), ("1 run", [])])
def test_resumed_work_has_the_processors_before_further_functions(
    steps: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, resumed: str, further: list[str]
) -> None:
    monkeypatch.setattr(lifecycle, "_resume", lambda *_: steps.append("resume") or Recovery(resumed))
    assert lifecycle.up(StackPaths(ROOT, tmp_path), None, lambda _: None) == "local"
    assert steps == ["warm", "resume", *further]


def test_work_is_resumed_although_a_start_is_interrupted_while_functions_are_warmed(
    steps: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lifecycle, "_warm", interrupt)
    with pytest.raises(KeyboardInterrupt):
        lifecycle.up(StackPaths(ROOT, tmp_path), None, lambda _: None)
    assert steps == ["resume"]
