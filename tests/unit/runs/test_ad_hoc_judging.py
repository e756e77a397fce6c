"""A judge called within a request must reply within the time of a request."""

import asyncio

import pytest

from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, Reply
from cupel_core.providers.errors import CallPostponed
from cupel_core.runs import ad_hoc_judging
from cupel_core.scoring.grading import grader
from cupel_core.scoring.grading.grader import GraderError
from cupel_core.store import governor
from cupel_core.store.settings import Settings

SAID = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "!"))


async def test_a_judge_that_never_replies_times_out(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(*_: object, **__: object) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(grader, "complete_with_retry", hang)
    monkeypatch.setattr(ad_hoc_judging, "TOTAL_TIMEOUT_SECONDS", 0.01)
    with pytest.raises(GraderError) as failed:
        await ad_hoc_judging.judge_conversation("ws_a", "sim/steady", SAID, Criteria("it answers"))
    assert (failed.value.code, failed.value.status) == (ProbeErrorCode.JUDGE_ERROR, 502)


async def test_a_judge_of_a_paused_provider_is_not_called(cloud: Settings) -> None:
    governor.set_paused("ws_a", "sim", True)
    with pytest.raises(CallPostponed) as postponed:
        await ad_hoc_judging.judge_conversation("ws_a", "sim/steady", SAID, Criteria("it answers"))
    assert postponed.value.status == 503


async def test_a_call_outside_a_run_gives_its_lease_back(cloud: Settings) -> None:
    await ad_hoc_judging.judge_conversation("ws_a", "sim/steady", SAID, Criteria("it answers"))
    status = governor.get_status("ws_a", "sim")
    assert (status.limit, status.workers) == (50, 0)
