"""The conversation loop: call the target, judge, then end or add the user's next message."""

from collections.abc import Callable
from typing import Any

import pytest

from cupel_core.conversations.turn import Halted
from cupel_core.domain.conversations.conversation import ConversationState, Criteria, FailureCriteriaMode
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Transcript, TranscriptResult
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.errors import CallPostponed, ProviderError, RetryLater
from tests.unit.conversations.conftest import ConversationHarness, RecordedCheckpoints, verdict

type Harnesses = Callable[..., ConversationHarness]


def completed(outcome: Outcome) -> Transcript:
    assert isinstance(outcome, Transcript), outcome
    return outcome


def errored(outcome: Outcome) -> ProbeError:
    assert isinstance(outcome, ProbeError), outcome
    return outcome


def roles(transcript: Transcript) -> str:
    return "".join(message.role[0] for message in transcript.messages)


async def test_success_ends_the_conversation(harness: Harnesses) -> None:
    transcript = completed(await harness(judge=[verdict(), verdict(success=True)]).run())
    assert (roles(transcript), transcript.conversation.turns) == ("uaua", 2)
    assert transcript.result == TranscriptResult(success=True, score=1.0, reason="everything passed")


async def test_failure_ends_the_conversation_at_once_in_mode_every_turn(harness: Harnesses) -> None:
    criteria = Criteria("booked", "refused", FailureCriteriaMode.EVERY_TURN)
    transcript = completed(await harness(criteria=criteria, judge=[verdict(failure=True)]).run())
    assert (roles(transcript), transcript.result and transcript.result.success) == ("ua", False)


async def test_an_agent_may_recover_from_a_failure_until_the_last_message(harness: Harnesses) -> None:
    transcript = completed(await harness(judge=[verdict(failure=True), verdict(success=True)]).run())
    assert (roles(transcript), transcript.result and transcript.result.success) == ("uaua", True)


async def test_failure_at_the_last_message_fails(harness: Harnesses) -> None:
    transcript = completed(await harness(judge=[verdict(failure=True)]).run())
    assert (roles(transcript), transcript.result and transcript.result.success) == ("uauaua", False)


async def test_the_last_message_without_success_fails(harness: Harnesses) -> None:
    transcript = completed(await harness(max_messages=4).run())
    assert (roles(transcript), transcript.result and transcript.result.success) == ("uaua", False)
    assert transcript.scoring
    assert transcript.scoring.tags == ("GOAL_MISS",)


async def test_without_a_judge_it_is_a_single_turn(harness: Harnesses) -> None:
    conversation = harness(judged=False)
    transcript = completed(await conversation.run())
    assert (roles(transcript), transcript.result) == ("ua", None)
    assert not conversation.requests_to("judge")
    assert not conversation.checkpoints.saved


async def test_criteria_that_nobody_judged_never_pass(harness: Harnesses) -> None:
    content = Content(assertions=(Assertion("contains", value="help"),))
    transcript = completed(await harness(judged=False, content=content).run())
    assert transcript.scoring
    assert transcript.scoring.success is None
    assert "no judgeModel is configured" in transcript.scoring.reason


async def test_the_simulated_user_follows_the_persona_and_the_scenario(harness: Harnesses) -> None:
    persona = Persona("per_1", "Ada", "impatient", "You never say please.")
    conversation = harness(
        persona=persona,
        scenario={"instructions": "wants a haircut on Tuesday"},
        judge=[verdict(), verdict(success=True)],
    )
    transcript = completed(await conversation.run())
    prompt = conversation.requests_to("user")[0].system or ""
    assert all(part in prompt for part in ("Ada", "impatient", "You never say please.", "haircut on Tuesday"))
    assert transcript.messages[2] == Message(MessageRole.USER, "And then?")
    assert transcript.persona_id == "per_1"
    assert transcript.conversation.simulated_user_prompt == prompt


async def test_a_conversation_without_a_simulated_user_has_no_prompt_for_one(harness: Harnesses) -> None:
    assert completed(await harness(judged=False).run()).conversation.simulated_user_prompt is None


async def test_a_resumed_conversation_keeps_the_prompt_of_its_simulated_user(harness: Harnesses) -> None:
    said = (Message(MessageRole.USER, "Hi"), Message(MessageRole.ASSISTANT, "Yes?"))
    before = ConversationState(said, turns=1, simulated_user_prompt="You are Ada.")
    conversation = harness(checkpoints=RecordedCheckpoints(before))
    assert completed(await conversation.run()).conversation.simulated_user_prompt == "You are Ada."
    assert (conversation.requests_to("user")[0].system or "").startswith("You are Ada.\n\n")


async def test_the_target_sees_neither_instructions_nor_criteria(harness: Harnesses) -> None:
    conversation = harness(scenario={"instructions": "wants a secret thing"}, content=Content(system="Be kind."))
    await conversation.run()
    for request in conversation.requests_to("target"):
        said = " ".join(message.content for message in request.messages)
        assert request.system == "Be kind."
        assert not any(word in said for word in ("secret thing", "booked", "refused"))


async def test_a_scenario_without_messages_starts_with_the_simulated_user(harness: Harnesses) -> None:
    conversation = harness(messages=(), user=[{"content": "Good day!"}], judge=[verdict(success=True)])
    transcript = completed(await conversation.run())
    assert transcript.messages[0] == Message(MessageRole.USER, "Good day!")


async def test_a_scenario_without_messages_or_user_model_is_an_invalid_request(harness: Harnesses) -> None:
    error = errored(await harness(messages=(), judged=False).run())
    assert error.code is ProbeErrorCode.INVALID_REQUEST
    assert "the scenario has no messages" in error.message


async def test_scripted_follow_ups_precede_generated_ones(harness: Harnesses) -> None:
    conversation = harness(content=Content(follow_ups=("On Tuesday.",)))
    transcript = completed(await conversation.run())
    said = [message.content for message in transcript.messages if message.role is MessageRole.USER]
    assert said == ["Book me a haircut.", "On Tuesday.", "And then?"]


async def test_a_scenarios_own_follow_ups_replace_the_definitions(harness: Harnesses) -> None:
    content = Content(follow_ups=("On Tuesday.", "At nine."))
    conversation = harness(content=content, scenario={"follow_ups": ("On Friday.",)}, judged=False)
    transcript = completed(await conversation.run())
    said = [message.content for message in transcript.messages if message.role is MessageRole.USER]
    assert said == ["Book me a haircut.", "On Friday."]


async def test_an_assertion_may_be_about_an_earlier_answer(harness: Harnesses) -> None:
    assertions = tuple(Assertion("contains", value=f"{turn}", turn=turn) for turn in (1, 2, 3))
    content = Content(follow_ups=("And then?",), assertions=assertions)
    answers = [{"content": "Answer 1"}, {"content": "Answer 2"}]
    transcript = completed(await harness(content=content, criteria=Criteria(), target=answers).run())
    assert transcript.scoring
    assert [result.passed for result in transcript.scoring.results] == [True, True, None]
    assert transcript.scoring.results[2].error == "answer 3: the conversation has only 2 answers"


async def test_seed_messages_are_part_of_what_the_target_sees(harness: Harnesses) -> None:
    seed = (
        Message(MessageRole.USER, "Hi"),
        Message(MessageRole.ASSISTANT, "Hello"),
        Message(MessageRole.USER, "A haircut, please"),
    )
    conversation = harness(messages=seed, judge=[verdict(success=True)])
    await conversation.run()
    assert conversation.requests_to("target")[0].messages == seed


async def test_an_unusable_judge_reply_is_repaired_once(harness: Harnesses) -> None:
    conversation = harness(judge=["I think so!", verdict(success=True)])
    transcript = completed(await conversation.run())
    assert transcript.result
    assert transcript.result.success
    assert transcript.conversation.judge_spend.calls == 2


async def test_answers_that_a_judge_left_without_a_verdict_are_complete_and_not_scored(harness: Harnesses) -> None:
    content = Content(assertions=(Assertion("contains", value="help"),))
    conversation = harness(max_messages=2, content=content, judge=["I think so!", '{"successMet": "maybe"}'])
    transcript = completed(await conversation.run())
    assert transcript.scoring
    criteria, contains = transcript.scoring.results
    assert (transcript.result, transcript.scoring.success, criteria.passed, contains.passed) == (None, None, None, True)
    assert criteria.unusable_reply
    assert criteria.unusable_reply.reply == '{"successMet": "maybe"}'
    assert (criteria.type, criteria.error) == (
        "criteria",
        "the judge custom/judge gave no usable reply, even after a repair request: successMet: should be true or false;"
        """ it said "{"successMet": "maybe"}\"""",
    )
    assert (transcript.spending.target.calls, transcript.spending.judge.calls) == (1, 2)


async def test_an_unusable_verdict_between_answers_decides_nothing(harness: Harnesses) -> None:
    conversation = harness(judge=["I think so!", "Still so!", verdict(success=True)])
    transcript = completed(await conversation.run())
    assert (roles(transcript), transcript.result and transcript.result.success) == ("uaua", True)
    assert transcript.conversation.judge_spend.calls == 3


async def test_only_the_last_verdict_must_be_usable(harness: Harnesses) -> None:
    conversation = harness(judge=[verdict(failure=True), "I think so!", "Still so!"], max_messages=4)
    transcript = completed(await conversation.run())
    assert (roles(transcript), transcript.result) == ("uaua", None)
    assert transcript.scoring
    assert [result.passed for result in transcript.scoring.results] == [None]
    assert transcript.conversation.verdict is None


async def test_a_conversation_goes_on_after_an_unusable_verdict_that_was_saved(harness: Harnesses) -> None:
    first = harness(judge=["I think so!", "Still so!", Halted()])
    with pytest.raises(Halted):
        await first.run()
    saved = next(state for state in first.checkpoints.saved if state.unjudged)
    resumed = harness(judge=[verdict(success=True)], checkpoints=RecordedCheckpoints(before=saved))
    transcript = completed(await resumed.run())
    assert (roles(transcript), transcript.conversation.judge_spend.calls) == ("uaua", 3)


async def test_an_error_keeps_what_the_target_and_the_judge_have_cost(harness: Harnesses) -> None:
    refused = ProviderError(ProbeErrorCode.AUTH, "the key is wrong")
    error = errored(await harness(judge=["I think so!", refused]).run())
    assert (error.spending.target.calls, error.spending.judge.calls) == (1, 1)
    assert error.spending.total.usage.total == 30


async def test_an_error_keeps_what_the_simulated_user_has_cost(harness: Harnesses) -> None:
    error = errored(await harness(user=["", {"words": "no"}]).run())
    assert (error.spending.target.calls, error.spending.judge.calls, error.spending.persona.calls) == (1, 1, 2)


@pytest.mark.parametrize(
    "stop",
    [
        ProviderError(ProbeErrorCode.RATE_LIMITED, "later", retry_after_seconds=60.0),
        CallPostponed("custom", 5),
        Halted(),
    ],
    ids=["retry later", "postponed", "halted"],
)
@pytest.mark.parametrize("grader", ["judge", "user"])
async def test_an_unusable_reply_is_counted_once_if_its_repair_happens_later(
    harness: Harnesses, grader: str, stop: Exception
) -> None:
    usable = verdict(success=True) if grader == "judge" else {"content": "And then?"}
    conversation = harness(**{grader: ["I think so!", stop, usable]})
    with pytest.raises((RetryLater, CallPostponed, Halted)):
        await conversation.run()
    state = completed(await conversation.run()).conversation
    spend = state.judge_spend if grader == "judge" else state.persona_spend
    assert spend.calls == len(conversation.requests_to(grader)) - 1


async def test_the_error_of_a_simulated_user_names_it_and_its_model(harness: Harnesses) -> None:
    error = errored(await harness(user=["", {"words": "no"}]).run())
    assert error.code is ProbeErrorCode.SIMULATED_USER_ERROR
    assert error.message.startswith("the simulated user custom/user gave no usable reply")


async def test_a_judge_that_simulates_the_user_fails_as_simulated_user(harness: Harnesses) -> None:
    refused = ProviderError(ProbeErrorCode.AUTH, "the key is wrong")
    error = errored(await harness(config=GraderConfig("custom/judge"), judge=[verdict(), refused]).run())
    assert (error.code, error.message) == (
        ProbeErrorCode.SIMULATED_USER_ERROR,
        "the simulated user custom/judge: auth: the key is wrong",
    )


async def test_a_failed_judge_call_is_a_judge_error(harness: Harnesses) -> None:
    refused = ProviderError(ProbeErrorCode.AUTH, "the key is wrong")
    error = errored(await harness(judge=[refused]).run())
    assert (error.code, "the key is wrong" in error.message) == (ProbeErrorCode.JUDGE_ERROR, True)


async def test_a_verdict_on_missing_criteria_is_ignored(harness: Harnesses) -> None:
    conversation = harness(criteria=Criteria(success="booked"), judge=[verdict(failure=True), verdict(success=True)])
    transcript = completed(await conversation.run())
    assert transcript.conversation.verdict
    assert not transcript.conversation.verdict.failure_met


async def test_tokens_of_target_judge_and_user_are_counted_separately(harness: Harnesses) -> None:
    transcript = completed(await harness(judge=[verdict(), verdict(success=True)]).run())
    dialogue = transcript.conversation
    assert (dialogue.usage.total, dialogue.judge_spend.usage.total, dialogue.persona_spend.usage.total) == (30, 30, 15)
    assert (dialogue.judge_spend.calls, dialogue.persona_spend.calls) == (2, 1)


async def test_a_checkpoint_is_saved_after_every_call(harness: Harnesses) -> None:
    conversation = harness(judge=[verdict(), verdict(success=True)])
    await conversation.run()
    calls = sum(len(voice.requests) for voice in conversation.models.values())
    assert len(conversation.checkpoints.saved) == calls - 1  # None after the last call.


@pytest.mark.parametrize("lost", range(4))
async def test_a_conversation_resumes_after_the_last_checkpoint(harness: Harnesses, lost: int) -> None:
    """After a crash at any point, no call before the last checkpoint is repeated."""
    complete = harness(judge=[verdict(), verdict(success=True)])
    expected = completed(await complete.run())
    judged = sum(dialogue.verdict is not None for dialogue in complete.checkpoints.saved[: lost + 1])
    left = [verdict(), verdict(success=True)][judged:]
    resumed = harness(judge=left, checkpoints=RecordedCheckpoints(before=complete.checkpoints.saved[lost]))
    transcript = completed(await resumed.run())
    assert roles(transcript) == roles(expected)
    assert transcript.conversation.usage == expected.conversation.usage
    calls = sum(len(voice.requests) for voice in complete.models.values())
    assert sum(len(voice.requests) for voice in resumed.models.values()) == calls - 1 - lost


async def test_a_judge_that_asks_to_wait_postpones_the_probe_after_a_checkpoint(harness: Harnesses) -> None:
    conversation = harness(judge=[ProviderError(ProbeErrorCode.RATE_LIMITED, "later", retry_after_seconds=60.0)])
    with pytest.raises(RetryLater) as waits:
        await conversation.run()
    assert waits.value.code is ProbeErrorCode.JUDGE_ERROR
    assert conversation.checkpoints.saved[-1].turns == 1


ROLE = {"instructions": "wants a haircut on Tuesday"}
WAIT = ProviderError(ProbeErrorCode.RATE_LIMITED, "later", retry_after_seconds=60.0)
RUBRICS = Content(assertions=(Assertion("llm-rubric", value="is polite"), Assertion("llm-rubric", value="is brief")))
GRADE = {"reason": "as it says", "pass": True, "score": 1.0}


@pytest.mark.parametrize(
    "simulated", [{"scenario": ROLE}, {"persona": Persona("per_1", "Ada", None, "You never say please.")}]
)
async def test_a_simulated_user_continues_to_the_last_message_without_criteria(
    harness: Harnesses, simulated: dict[str, Any]
) -> None:
    conversation = harness(criteria=Criteria(), **simulated)
    transcript = completed(await conversation.run())
    assert (roles(transcript), conversation.requests_to("judge")) == ("uauaua", [])


async def test_a_persona_model_is_enough_for_a_simulated_user(harness: Harnesses) -> None:
    config = GraderConfig(persona_model="custom/user")
    conversation = harness(criteria=Criteria(), config=config, messages=(), scenario=ROLE, max_messages=2)
    assert roles(completed(await conversation.run())) == "ua"


async def test_without_a_role_the_user_says_nothing_more(harness: Harnesses) -> None:
    assert roles(completed(await harness(criteria=Criteria()).run())) == "ua"


async def test_the_opening_of_a_simulated_user_is_reused(harness: Harnesses) -> None:
    conversation = harness(messages=(), criteria=Criteria(), scenario=ROLE, max_messages=2, target=[WAIT, "Hello."])
    with pytest.raises(RetryLater):
        await conversation.run()
    completed(await conversation.run())
    assert len(conversation.requests_to("user")) == 1


async def test_a_conversation_of_one_call_reads_no_checkpoint(harness: Harnesses) -> None:
    class Unreadable(RecordedCheckpoints):
        async def load(self) -> ConversationState | None:
            raise AssertionError("read")

    completed(await harness(criteria=Criteria(), checkpoints=Unreadable()).run())


async def test_a_judge_that_asks_to_wait_is_asked_for_the_missing_grades_only(harness: Harnesses) -> None:
    conversation = harness(criteria=Criteria(), content=RUBRICS, judge=[GRADE, WAIT, GRADE])
    with pytest.raises(RetryLater):
        await conversation.run()
    transcript = completed(await conversation.run())
    assert transcript.result == TranscriptResult(success=True, score=1.0, reason="everything passed")
    assert (len(conversation.requests_to("judge")), len(conversation.requests_to("target"))) == (3, 1)
    assert transcript.conversation.judge_spend.calls == 2


async def test_grades_that_are_given_together_need_no_checkpoint_of_their_own(harness: Harnesses) -> None:
    conversation = harness(criteria=Criteria(), content=RUBRICS, judge=[GRADE])
    completed(await conversation.run())
    assert [state.grades for state in conversation.checkpoints.saved] == [{}]


async def test_the_thread_of_a_conversation_is_that_of_its_probe(harness: Harnesses) -> None:
    conversation = harness(judge=[verdict(), verdict(success=True)])
    await conversation.run()
    threads = [request.thread for request in conversation.requests_to("target")]
    assert [(thread.id, thread.turn) for thread in threads if thread] == [("thread-1", 0), ("thread-1", 1)]


def test_an_empty_conversation_has_spent_nothing() -> None:
    assert ConversationState(()).judge_spend == Spend()
