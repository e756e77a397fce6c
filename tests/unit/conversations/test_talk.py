"""The loop: send → judge → stop, or the user's next message."""

from collections.abc import Callable

import pytest

from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Result, Transcript
from cupel_core.domain.turns.conversation import Criteria, Dialogue, FailureMode, Spend
from cupel_core.domain.turns.model_request import ErrorCode, Message, Role
from cupel_core.providers.errors import PleaseWait, ProviderError
from tests.unit.conversations.conftest import Notes, Stage, verdict

type Stages = Callable[..., Stage]


def completed(outcome: Outcome) -> Transcript:
    assert isinstance(outcome, Transcript), outcome
    return outcome


def errored(outcome: Outcome) -> ProbeError:
    assert isinstance(outcome, ProbeError), outcome
    return outcome


def roles(transcript: Transcript) -> str:
    return "".join(message.role[0] for message in transcript.messages)


async def test_success_ends_the_conversation(stage: Stages) -> None:
    transcript = completed(await stage(judge=[verdict(), verdict(success=True)]).play())
    assert (roles(transcript), transcript.dialogue.turns) == ("uaua", 2)
    assert transcript.result == Result(success=True, score=1.0, reason="everything passed")


async def test_failure_ends_it_at_once_in_the_mode_every_turn(stage: Stages) -> None:
    criteria = Criteria("booked", "refused", FailureMode.EVERY_TURN)
    transcript = completed(await stage(criteria=criteria, judge=[verdict(failure=True)]).play())
    assert (roles(transcript), transcript.result and transcript.result.success) == ("ua", False)


async def test_an_agent_may_recover_from_a_failure_until_the_last_message(stage: Stages) -> None:
    transcript = completed(await stage(judge=[verdict(failure=True), verdict(success=True)]).play())
    assert (roles(transcript), transcript.result and transcript.result.success) == ("uaua", True)


async def test_failure_at_the_last_message_fails(stage: Stages) -> None:
    transcript = completed(await stage(judge=[verdict(failure=True)]).play())
    assert (roles(transcript), transcript.result and transcript.result.success) == ("uauaua", False)


async def test_the_last_message_without_success_fails(stage: Stages) -> None:
    transcript = completed(await stage(max_messages=4).play())
    assert (roles(transcript), transcript.result and transcript.result.success) == ("uaua", False)
    assert transcript.scoring
    assert transcript.scoring.tags == ("GOAL_MISS",)


async def test_without_a_judge_it_is_a_single_turn(stage: Stages) -> None:
    setting = stage(judged=False)
    transcript = completed(await setting.play())
    assert (roles(transcript), transcript.result, transcript.scoring) == ("ua", None, None)
    assert not setting.heard("judge")
    assert not setting.notes.kept


async def test_the_user_is_played_in_persona_and_by_the_scenario(stage: Stages) -> None:
    persona = Persona("per_1", "Ada", "impatient", "You never say please.")
    setting = stage(
        persona=persona,
        scenario={"instructions": "wants a haircut on Tuesday"},
        judge=[verdict(), verdict(success=True)],
    )
    transcript = completed(await setting.play())
    asked = setting.heard("user")[0].system or ""
    assert all(part in asked for part in ("Ada", "impatient", "You never say please.", "haircut on Tuesday"))
    assert transcript.messages[2] == Message(Role.USER, "And then?")
    assert transcript.persona_id == "per_1"


async def test_the_target_is_told_neither_instructions_nor_criteria(stage: Stages) -> None:
    setting = stage(scenario={"instructions": "wants a secret thing"}, content=Content(system="Be kind."))
    await setting.play()
    for conversation in setting.heard("target"):
        said = " ".join(message.content for message in conversation.messages)
        assert conversation.system == "Be kind."
        assert not any(word in said for word in ("secret thing", "booked", "refused"))


async def test_a_scenario_without_messages_begins_with_the_played_user(stage: Stages) -> None:
    setting = stage(messages=(), user=[{"content": "Good day!"}], judge=[verdict(success=True)])
    transcript = completed(await setting.play())
    assert transcript.messages[0] == Message(Role.USER, "Good day!")


async def test_nobody_to_begin_is_an_error_of_the_request(stage: Stages) -> None:
    error = errored(await stage(messages=(), judged=False).play())
    assert error.code is ErrorCode.INVALID_REQUEST
    assert "no message to begin with" in error.message


async def test_scripted_follow_ups_are_said_before_any_is_generated(stage: Stages) -> None:
    setting = stage(content=Content(follow_ups=("On Tuesday.",)))
    transcript = completed(await setting.play())
    said = [message.content for message in transcript.messages if message.role is Role.USER]
    assert said == ["Book me a haircut.", "On Tuesday.", "And then?"]


async def test_seed_messages_are_part_of_what_the_target_sees(stage: Stages) -> None:
    seed = (Message(Role.USER, "Hi"), Message(Role.ASSISTANT, "Hello"), Message(Role.USER, "A haircut, please"))
    setting = stage(messages=seed, judge=[verdict(success=True)])
    await setting.play()
    assert setting.heard("target")[0].messages == seed


async def test_a_judge_that_makes_no_sense_is_asked_again_once(stage: Stages) -> None:
    setting = stage(judge=["I think so!", verdict(success=True)])
    transcript = completed(await setting.play())
    assert transcript.result
    assert transcript.result.success
    assert transcript.dialogue.judge.calls == 2


async def test_a_judge_that_keeps_making_no_sense_is_an_error_and_no_failed_model(stage: Stages) -> None:
    error = errored(await stage(judge=["I think so!", '{"successMet": "maybe"}']).play())
    assert error.code is ErrorCode.JUDGE_ERROR


async def test_a_user_that_keeps_making_no_sense_is_an_error_too(stage: Stages) -> None:
    error = errored(await stage(user=["", {"words": "no"}]).play())
    assert error.code is ErrorCode.JUDGE_ERROR


async def test_a_judge_that_cannot_be_asked_is_an_error_of_the_judge(stage: Stages) -> None:
    refused = ProviderError(ErrorCode.AUTH, "the key is wrong")
    error = errored(await stage(judge=[refused]).play())
    assert (error.code, "the key is wrong" in error.message) == (ErrorCode.JUDGE_ERROR, True)


async def test_a_verdict_on_what_nobody_asked_for_counts_for_nothing(stage: Stages) -> None:
    setting = stage(criteria=Criteria(success="booked"), judge=[verdict(failure=True), verdict(success=True)])
    transcript = completed(await setting.play())
    assert transcript.dialogue.verdict
    assert not transcript.dialogue.verdict.failure_met


async def test_tokens_of_target_judge_and_user_are_kept_apart(stage: Stages) -> None:
    transcript = completed(await stage(judge=[verdict(), verdict(success=True)]).play())
    dialogue = transcript.dialogue
    assert (dialogue.usage.total, dialogue.judge.usage.total, dialogue.persona.usage.total) == (30, 30, 15)
    assert (dialogue.judge.calls, dialogue.persona.calls) == (2, 1)


async def test_what_was_paid_for_is_kept_after_every_call(stage: Stages) -> None:
    setting = stage(judge=[verdict(), verdict(success=True)])
    await setting.play()
    calls = sum(len(voice.heard) for voice in setting.voices.values())
    assert len(setting.notes.kept) == calls - 1  # After the last there is nothing to lose.


@pytest.mark.parametrize("lost", range(4))
async def test_a_conversation_goes_on_after_the_last_call_that_was_kept(stage: Stages, lost: int) -> None:
    """Whichever call a crash comes after, none that was kept is made again."""
    whole = stage(judge=[verdict(), verdict(success=True)])
    expected = completed(await whole.play())
    judged = sum(dialogue.verdict is not None for dialogue in whole.notes.kept[: lost + 1])
    left = [verdict(), verdict(success=True)][judged:]
    again = stage(judge=left, notes=Notes(before=whole.notes.kept[lost]))
    transcript = completed(await again.play())
    assert roles(transcript) == roles(expected)
    assert transcript.dialogue.usage == expected.dialogue.usage
    calls = sum(len(voice.heard) for voice in whole.voices.values())
    assert sum(len(voice.heard) for voice in again.voices.values()) == calls - 1 - lost


async def test_a_judge_that_asks_to_wait_postpones_the_probe_with_the_answer_kept(stage: Stages) -> None:
    setting = stage(judge=[ProviderError(ErrorCode.RATE_LIMITED, "later", retry_after=60.0)])
    with pytest.raises(PleaseWait) as waits:
        await setting.play()
    assert waits.value.code is ErrorCode.JUDGE_ERROR
    assert setting.notes.kept[-1].turns == 1


async def test_the_thread_of_a_conversation_is_that_of_its_probe(stage: Stages) -> None:
    setting = stage(judge=[verdict(), verdict(success=True)])
    await setting.play()
    threads = [conversation.thread for conversation in setting.heard("target")]
    assert [(thread.id, thread.turn) for thread in threads if thread] == [("thread-1", 0), ("thread-1", 1)]


def test_a_dialogue_with_nothing_said_has_spent_nothing() -> None:
    assert Dialogue(()).judge == Spend()
