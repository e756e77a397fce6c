"""A worker reads each file once."""

import asyncio

import pytest

from cupel_core.conversations.turn import CalledTarget, run_turn
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.conversations.parts import FilePart, PartType
from cupel_core.domain.files.formats import FileFormat, FileInfo
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError
from cupel_core.runs.probing.file_cache import FileCache, WorkspaceFiles


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
