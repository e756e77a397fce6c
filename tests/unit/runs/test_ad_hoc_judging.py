"""A judge called within a request must reply within the time of a request."""

import asyncio

import pytest

from cupel_core.domain.turns.conversation import Criteria
from cupel_core.domain.turns.model_request import Message, MessageRole, ProbeErrorCode, Reply
from cupel_core.grading import grader
from cupel_core.grading.grader import JudgeError
from cupel_core.runs import ad_hoc_judging
from cupel_core.settings import Settings


async def test_a_judge_that_never_replies_times_out(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(*_: object, **__: object) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(grader, "complete_with_retry", hang)
    monkeypatch.setattr(ad_hoc_judging, "TOTAL_TIMEOUT_SECONDS", 0.01)
    said = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "!"))
    with pytest.raises(JudgeError) as failed:
        await ad_hoc_judging.judge_conversation("ws_a", "sim/steady", said, Criteria("it answers"))
    assert (failed.value.code, failed.value.status) == (ProbeErrorCode.JUDGE_ERROR, 502)
