import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.conversations.turn import CalledTarget, run_turn
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.conversations.parts import FilePart, PartType
from cupel_core.domain.files.formats import FileFormat, FileInfo
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.runs.probing.caches import (
    CLOCK_SKEW_SECONDS,
    FRESH_SECONDS,
    AccountCache,
    FileCache,
    RunCache,
    WorkspaceFiles,
)
from tests.started_runs import NOW

REF = RunRef("ws_a", "run_1")
PAUSED = Run(
    "ws_a",
    "run_1",
    "def_1",
    1,
    Plan(plain_targets("sim/steady"), (1,)),
    100,
    1,
    "key",
    NOW,
    NOW,
    "rating",
    1,
    1,
    status=RunStatus.PAUSED,
    fencing_token=2,
)
START = 1_800_000_000.0
LONG_AGO = datetime.fromtimestamp(START, UTC) - timedelta(hours=1)


class ScriptedReads:
    """Returns one run after the other."""

    def __init__(self, *runs: Run) -> None:
        self.left = list(runs)

    async def read(self, _: RunRef) -> Run | None:
        return self.left.pop(0)


async def test_a_run_is_read_again_for_a_newer_fencing_token() -> None:
    reads = ScriptedReads(PAUSED, replace(PAUSED, status=RunStatus.RUNNING, fencing_token=3))
    cache = RunCache(reads.read, clock=lambda: 0.0)
    assert await cache.get_open_run(REF, 1) is None
    assert await cache.get_open_run(REF, 3) is not None


async def test_a_run_is_not_read_again_for_an_older_fencing_token() -> None:
    reads = ScriptedReads(PAUSED)
    cache = RunCache(reads.read, clock=lambda: 0.0)
    assert [await cache.get_open_run(REF, 1) for _ in range(2)] == [None, None]


async def test_a_read_that_took_too_long_is_repeated() -> None:
    now, left = [0.0], [(6.0, replace(PAUSED, status=RunStatus.RUNNING)), (0.1, PAUSED)]

    async def read(_: RunRef) -> Run | None:
        seconds, run = left.pop(0)
        now[0] += seconds
        return run

    assert await RunCache(read, clock=lambda: now[0]).get_open_run(REF, 2) is None


class Accounts:
    """Counts the reads of stored accounts, at a time that the test sets."""

    def __init__(self) -> None:
        self.now = START
        self.reads: list[tuple[str, str]] = []
        self.cache = AccountCache(self._load, lambda: self.now)

    def _load(self, workspace: str, provider: str) -> Account:
        self.reads.append((workspace, provider))
        return Account(provider, f"https://{workspace}.example", f"key {len(self.reads)}")

    def key(self, workspace: str = "acme", provider: str = "openai", changed_at: datetime = LONG_AGO) -> str | None:
        return self.cache.get(workspace, provider, changed_at).api_key


def test_an_account_is_read_once_within_three_seconds() -> None:
    accounts = Accounts()
    keys = [accounts.key() for _ in range(3)]
    accounts.now += FRESH_SECONDS
    assert (keys, accounts.key()) == (["key 1"] * 3, "key 1")
    accounts.now += 0.1
    assert accounts.key() == "key 2"


def test_accounts_of_workspaces_and_providers_are_kept_apart() -> None:
    accounts = Accounts()
    keys = [accounts.key("acme", "openai"), accounts.key("acme", "google"), accounts.key("other", "openai")]
    assert keys == ["key 1", "key 2", "key 3"]
    assert accounts.reads == [("acme", "openai"), ("acme", "google"), ("other", "openai")]


@pytest.mark.parametrize(
    ("seconds_before_the_read", "key"),
    [(CLOCK_SKEW_SECONDS, "key 1"), (CLOCK_SKEW_SECONDS - 0.1, "key 2"), (0.0, "key 2"), (-1.0, "key 2")],
)
def test_an_account_is_read_again_after_its_run_has_changed(seconds_before_the_read: float, key: str) -> None:
    accounts = Accounts()
    accounts.key()
    accounts.now += 1.0
    changed_at = datetime.fromtimestamp(START - seconds_before_the_read, UTC)
    assert accounts.key(changed_at=changed_at) == key


def test_a_failed_read_is_repeated() -> None:
    answers = [ConnectionError(), Account("openai", "https://acme.example", "key")]

    def load(workspace: str, provider: str) -> Account:
        del workspace, provider
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    cache = AccountCache(load, lambda: START)
    with pytest.raises(ConnectionError):
        cache.get("acme", "openai", LONG_AGO)
    assert cache.get("acme", "openai", LONG_AGO).api_key == "key"


class Bucket:
    def __init__(self, contents: dict[tuple[str, str], bytes]) -> None:
        self.contents = contents
        self.reads: list[tuple[str, str]] = []

    def read(self, workspace: str, file_id: str) -> bytes | None:
        self.reads.append((workspace, file_id))
        return self.contents.get((workspace, file_id))


async def test_conversations_side_by_side_read_a_file_once() -> None:
    bucket = Bucket({("a", "f"): b"one"})
    cache = FileCache(bucket.read)
    results = await asyncio.gather(*(WorkspaceFiles("a", cache).read(["f"]) for _ in range(20)))
    assert list(results) == [{"f": b"one"}] * 20
    assert bucket.reads == [("a", "f")]


async def test_the_file_of_another_workspace_is_another_one() -> None:
    bucket = Bucket({("a", "f"): b"one"})
    cache = FileCache(bucket.read)
    assert await WorkspaceFiles("a", cache).read(["f"]) == {"f": b"one"}
    assert await WorkspaceFiles("b", cache).read(["f"]) == {}


async def test_the_files_used_longest_ago_are_forgotten_first() -> None:
    bucket = Bucket({("a", each): b"12345" for each in "xyz"})
    files = WorkspaceFiles("a", FileCache(bucket.read, max_bytes=10))
    for each in "xyxzx":
        await files.read([each])
    await files.read(["y"])
    assert [file_id for _, file_id in bucket.reads] == ["x", "y", "z", "y"]


async def test_a_failed_read_is_repeated_by_the_next_one() -> None:
    calls = []

    def read(workspace: str, file_id: str) -> bytes:
        calls.append(file_id)
        if len(calls) == 1:
            raise OSError(workspace)
        return b"one"

    files = WorkspaceFiles("a", FileCache(read))
    with pytest.raises(OSError, match="a"):
        await files.read(["f"])
    assert await files.read(["f"]) == {"f": b"one"}


PART = FilePart(PartType.IMAGE, "file_1", "cat.png", info=FileInfo(FileFormat.PNG, 9, 1, 1))
ASKED = ModelRequest((Message.of_parts(MessageRole.USER, (PART,)),))


def target(contents: dict[tuple[str, str], bytes], seen: list[ModelRequest]) -> CalledTarget:
    async def attempt(account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        del account, model, timeout_seconds
        seen.append(request)
        return Reply("Red")

    files = WorkspaceFiles("a", FileCache(Bucket(contents).read))
    return CalledTarget(Account("sim", ""), "sim/steady", 5, None, attempt=attempt, files=files)  # type: ignore[arg-type]


async def test_a_turn_sends_the_content_and_leaves_the_request_as_it_is() -> None:
    seen: list[ModelRequest] = []
    await run_turn(ASKED, target({("a", "file_1"): b"content"}, seen))
    assert seen[0].files == {"file_1": b"content"}
    assert (ASKED.files, ASKED.messages[0].files) == ({}, (PART,))


async def test_a_file_that_is_gone_is_named_before_any_call() -> None:
    seen: list[ModelRequest] = []
    with pytest.raises(ProviderError) as caught:
        await run_turn(ASKED, target({}, seen))
    assert caught.value.code is ProbeErrorCode.FILE_NOT_FOUND
    assert not caught.value.retryable
    assert "file_1 of the message, [image cat.png, 1×1 PNG], does not exist any more" in caught.value.message
    assert not seen
