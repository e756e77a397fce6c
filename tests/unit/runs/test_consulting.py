"""A judge that is asked within a request has the time of a request."""

import asyncio

import pytest

from cupel_core.domain.conversation import ErrorCode, Message, Reply, Role
from cupel_core.domain.dialogue import Criteria
from cupel_core.judging import asking
from cupel_core.judging.asking import JudgeError
from cupel_core.runs import consulting
from cupel_core.settings import Settings


async def test_a_judge_that_never_answers_is_given_up_in_time(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(*_: object, **__: object) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(asking, "complete_with_retry", hang)
    monkeypatch.setattr(consulting, "IN_ALL_SECONDS", 0.01)
    said = (Message(Role.USER, "?"), Message(Role.ASSISTANT, "!"))
    with pytest.raises(JudgeError) as failed:
        await consulting.judge("ws_a", "sim/steady", said, Criteria("it answers"))
    assert (failed.value.code, failed.value.status) == (ErrorCode.JUDGE_ERROR, 502)
