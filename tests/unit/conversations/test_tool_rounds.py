"""Calls of tools that are answered, so that the target goes on."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from cupel_core.conversations.tool_execution import ToolExecution
from cupel_core.domain.conversations.conversation import ConversationState, Criteria, StopReason
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, Reply, Usage
from cupel_core.domain.conversations.tool_results import ScriptedResult, ToolOutcome
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.providers.errors import RetryLater
from tests.unit.conversations.conftest import ConversationHarness, RecordedCheckpoints, verdict

type Harnesses = Callable[..., ConversationHarness]

TOOLS = [{"name": "find"}, {"name": "pay"}]


def call(name: str = "find", arguments: str = "{}", call_id: str = "call_1") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def calls(*made: ToolCall) -> Reply:
    return Reply("", usage=Usage(10, 5), tool_calls=made)


def scripted(*scripts: ScriptedResult) -> Content:
    return Content(tool_results=scripts or (ScriptedResult("find", "found"),))


def tool_harness(harness: Harnesses, **options: Any) -> ConversationHarness:
    defaults = {"judged": False, "criteria": Criteria(), "params": {"tools": TOOLS}, "content": scripted()}
    return harness(**{**defaults, **options})


def transcript_of(outcome: Outcome) -> Transcript:
    assert isinstance(outcome, Transcript), outcome
    return outcome


def results(outcome: Outcome) -> list[tuple[str | None, str, bool]]:
    messages = [each for each in transcript_of(outcome).messages if each.role is MessageRole.TOOL]
    return [(message.tool_call_id, message.content, message.is_error) for message in messages]


@dataclass
class RecordingExecutor:
    """Answers each call with what `answer` makes of it, and records it."""

    answer: Callable[[ToolCall, dict[str, Any]], ToolOutcome | None] = lambda *_: ToolOutcome("done")
    executed: list[str] = field(default_factory=list)

    async def __call__(self, call: ToolCall, arguments: dict[str, Any]) -> ToolOutcome | None:
        await asyncio.sleep(0)
        outcome = self.answer(call, arguments)
        self.executed.append(call.id)
        return outcome


async def test_a_scripted_result_is_sent_back_and_the_target_answers(harness: Harnesses) -> None:
    conversation = tool_harness(harness, target=(calls(call()), "It is found."))
    transcript = transcript_of(await conversation.run())
    assert [message.role[0] for message in transcript.messages] == ["u", "a", "t", "a"]
    assert conversation.requests_to("target")[1].messages[-1] == Message(MessageRole.TOOL, "found", (), "call_1")
    assert (transcript.conversation.turns, transcript.conversation.tool_rounds) == (1, 1)


async def test_every_round_is_paid_for(harness: Harnesses) -> None:
    transcript = transcript_of(await tool_harness(harness, target=(calls(call()), "It is found.")).run())
    assert (transcript.spending.target.calls, transcript.conversation.usage) == (2, Usage(20, 10))


async def test_a_scenarios_scripts_precede_its_definitions(harness: Harnesses) -> None:
    scenario = {"tool_results": (ScriptedResult("find", {"of": "scenario"}),)}
    outcome = await tool_harness(harness, target=(calls(call()), "."), scenario=scenario).run()
    assert results(outcome) == [("call_1", '{"of": "scenario"}', False)]


async def test_the_calls_of_one_reply_are_all_answered_in_order(harness: Harnesses) -> None:
    made = (call(call_id="b"), call("pay", call_id="a"))
    content = scripted(ScriptedResult("pay", error="no money"), ScriptedResult("find", 7))
    outcome = await tool_harness(harness, target=(calls(*made), "."), content=content).run()
    assert results(outcome) == [("b", "7", False), ("a", "no money", True)]


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (call("pay"), "No result is defined for this call."),
        (call("steal"), "There is no function of this name."),
        (call("find\x00\n"), "There is no function of this name."),
        (call(arguments="{not json"), "The arguments are not valid JSON."),
        (call(arguments="[1]"), "The arguments are not a JSON object."),
        (call(arguments="[" * 90_000), "The arguments are not valid JSON."),
        (call(arguments='{"a": NaN}'), "The arguments must not contain numbers that are not finite, as in a."),
    ],
)
async def test_a_call_that_nothing_answers_is_an_error_for_the_model(
    harness: Harnesses, made: ToolCall, error: str
) -> None:
    outcome = await tool_harness(harness, target=(calls(made), "Sorry.")).run()
    assert results(outcome) == [("call_1", error, True)]


async def test_without_scripts_and_executor_the_call_is_the_answer(harness: Harnesses) -> None:
    conversation = tool_harness(harness, target=(calls(call()),), content=Content())
    transcript = transcript_of(await conversation.run())
    assert [message.role[0] for message in transcript.messages] == ["u", "a"]
    assert (transcript.conversation.turns, transcript.conversation.stop_reason) == (1, None)
    assert not conversation.checkpoints.saved


async def test_with_no_rounds_the_call_is_the_answer(harness: Harnesses) -> None:
    conversation = tool_harness(harness, target=(calls(call()),), params={"tools": TOOLS, "maxToolRounds": 0})
    state = transcript_of(await conversation.run()).conversation
    assert (state.turns, state.tool_rounds, state.stop_reason) == (1, 0, None)


async def test_a_model_that_calls_for_ever_is_stopped(harness: Harnesses) -> None:
    conversation = tool_harness(harness, target=(calls(call()),), params={"tools": TOOLS, "maxToolRounds": 3})
    state = transcript_of(await conversation.run()).conversation
    assert (state.turns, state.tool_rounds, state.stop_reason) == (1, 3, StopReason.MAX_TOOL_ROUNDS)
    assert state.messages[-1].tool_calls
    assert len(conversation.requests_to("target")) == 4


async def test_ten_rounds_are_the_default(harness: Harnesses) -> None:
    conversation = tool_harness(harness, target=(calls(call()),))
    assert transcript_of(await conversation.run()).conversation.tool_rounds == 10


async def test_repeated_ids_of_calls_become_distinct(harness: Harnesses) -> None:
    target = (calls(call(), call()), calls(call(), call(call_id="")), ".")
    made = results(await tool_harness(harness, target=target).run())
    assert [call_id for call_id, *_ in made] == ["call_1", "call_2", "call_3", "call_4"]


async def test_a_forced_choice_is_forced_once_per_answer(harness: Harnesses) -> None:
    params = {"tools": TOOLS, "toolChoice": "required"}
    conversation = tool_harness(harness, target=(calls(call()), "."), params=params)
    await conversation.run()
    choices = [request.parameters.tool_choice for request in conversation.requests_to("target")]
    assert [choice is None for choice in choices] == [False, True]


async def test_rounds_count_per_answer_and_not_as_messages(harness: Harnesses) -> None:
    content = replace(scripted(), follow_ups=("And now?", "And then?"))
    params = {"tools": TOOLS, "maxToolRounds": 2}
    target = (calls(call()), calls(call()), "One.", calls(call()), calls(call()), "Two.", "Three.")
    conversation = tool_harness(harness, target=target, content=content, params=params, max_messages=6)
    state = transcript_of(await conversation.run()).conversation
    assert [message.content for message in state.messages if message.role is MessageRole.ASSISTANT and message.content]
    assert (state.turns, state.tool_rounds, state.stop_reason, state.message_count) == (3, 4, None, 6)


async def test_the_judge_sees_calls_and_results_and_the_simulated_user_does_not(harness: Harnesses) -> None:
    target = (Reply("Let me see.", tool_calls=(call(),)), "It is found.")
    conversation = tool_harness(
        harness, target=target, judged=True, criteria=Criteria("booked"), judge=[verdict(), verdict(success=True)]
    )
    await conversation.run()
    judged = conversation.requests_to("judge")[0].messages[-1].content
    shown = conversation.requests_to("user")[0].messages[-1].content
    assert '"name": "find"' in judged
    assert '{"role": "tool", "content": "found"}' in judged
    assert "Let me see." in shown
    assert not any(hidden in shown for hidden in ("tool", '"find"'))


async def test_each_round_has_one_checkpoint_if_scripts_answer(harness: Harnesses) -> None:
    conversation = tool_harness(harness, target=(calls(call()), calls(call()), "."))
    await conversation.run()
    assert [state.messages[-1].role for state in conversation.checkpoints.saved] == [MessageRole.TOOL] * 2


async def test_an_executor_gets_what_no_script_answers(harness: Harnesses) -> None:
    executor = RecordingExecutor(lambda _, arguments: ToolOutcome(f"paid {arguments['amount']}"))
    made = (call(), call("pay", '{"amount": 3}', "call_2"))
    outcome = await tool_harness(harness, target=(calls(*made), "."), tool_executor=executor).run()
    assert results(outcome) == [("call_1", "found", False), ("call_2", "paid 3", False)]
    assert executor.executed == ["call_2"]


@pytest.mark.parametrize("made", [call("steal"), call("pay", "nonsense")])
async def test_an_executor_does_not_get_invalid_calls(harness: Harnesses, made: ToolCall) -> None:
    executor = RecordingExecutor()
    outcome = await tool_harness(harness, target=(calls(made), "."), tool_executor=executor).run()
    assert (executor.executed, results(outcome)[0][2]) == ([], True)


async def test_the_reply_is_checkpointed_before_its_calls_are_executed(harness: Harnesses) -> None:
    checkpoints = RecordedCheckpoints()
    seen: list[int] = []
    executor = RecordingExecutor(lambda *_: seen.append(len(checkpoints.saved)) or ToolOutcome("done"))
    target = (calls(call("pay")), ".")
    await tool_harness(harness, target=target, tool_executor=executor, checkpoints=checkpoints).run()
    assert seen == [1]
    assert checkpoints.saved[0].pending_calls == (call("pay"),)


async def test_after_a_crash_only_calls_without_result_are_executed(harness: Harnesses) -> None:
    """Of three calls, the first was answered and recorded."""
    made = tuple(call("pay", call_id=call_id) for call_id in ("a", "b", "c"))
    said = (
        Message(MessageRole.USER, "Pay."),
        Message(MessageRole.ASSISTANT, "", made),
        Message(MessageRole.TOOL, "done", tool_call_id="a"),
    )
    before = ConversationState(said, tool_rounds=1, open_rounds=1)
    executor = RecordingExecutor()
    conversation = tool_harness(
        harness, target=("Paid.",), tool_executor=executor, checkpoints=RecordedCheckpoints(before)
    )
    outcome = await conversation.run()
    assert executor.executed == ["b", "c"]
    assert [call_id for call_id, *_ in results(outcome)] == ["a", "b", "c"]
    assert len(conversation.requests_to("target")) == 1


async def test_what_was_executed_before_a_wait_is_recorded(harness: Harnesses) -> None:
    def answer(made: ToolCall, _: dict[str, Any]) -> ToolOutcome:
        if made.id == "b":
            raise RetryLater(60.0, ProbeErrorCode.TIMEOUT)
        return ToolOutcome("done")

    made = (call("pay", call_id="a"), call("pay", call_id="b"))
    conversation = tool_harness(harness, target=(calls(*made), "."), tool_executor=RecordingExecutor(answer))
    with pytest.raises(RetryLater):
        await conversation.run()
    assert [each.id for each in conversation.checkpoints.saved[-1].pending_calls] == ["b"]


@pytest.mark.parametrize("failing", ["a", "b", "c"])
async def test_what_was_executed_beside_a_call_that_must_wait_is_not_executed_again(
    harness: Harnesses, failing: str
) -> None:
    def answer(made: ToolCall, _: dict[str, Any]) -> ToolOutcome:
        if made.id == failing and made.id not in executed:
            executed.append(made.id)
            raise RetryLater(60.0, ProbeErrorCode.TIMEOUT)
        executed.append(made.id)
        return ToolOutcome(f"done {made.id}")

    executed: list[str] = []
    made = tuple(call("pay", call_id=call_id) for call_id in ("a", "b", "c"))
    executor = RecordingExecutor(answer)
    conversation = tool_harness(harness, target=(calls(*made), "Paid."), tool_executor=executor)
    with pytest.raises(RetryLater):
        await conversation.run()
    outcome = await conversation.run()
    assert executed == ["a", "b", "c", failing]
    assert [(call_id, content) for call_id, content, _ in results(outcome)] == [
        ("a", "done a"),
        ("b", "done b"),
        ("c", "done c"),
    ]


async def test_a_result_is_stored_while_a_call_beside_it_is_still_in_progress() -> None:
    is_stored = asyncio.Event()

    async def execute(made: ToolCall, _: dict[str, Any]) -> ToolOutcome:
        if made.id == "slow":
            await is_stored.wait()
        return ToolOutcome("done")

    async def save(state: ConversationState) -> None:
        assert [pending.id for pending in state.pending_calls] == ["slow"]
        is_stored.set()

    reply = Message(MessageRole.ASSISTANT, "", (call("pay", call_id="slow"), call("pay", call_id="fast")))
    state = ConversationState((Message(MessageRole.USER, "Pay."), reply), tool_rounds=1, open_rounds=1)
    execution = ToolExecution((), frozenset({"pay"}), execute, save, save_delay_seconds=0.0)
    after = await asyncio.wait_for(execution.perform(state), timeout=10)
    assert [message.tool_call_id for message in after.messages[2:]] == ["slow", "fast"]


async def test_calls_with_one_id_are_all_executed(harness: Harnesses) -> None:
    executor = RecordingExecutor()
    made = tuple(call("pay", call_id="same") for _ in range(10))
    outcome = await tool_harness(harness, target=(calls(*made), "Paid."), tool_executor=executor).run()
    assert len(executor.executed) == len(set(executor.executed)) == 10
    assert [call_id for call_id, *_ in results(outcome)] == executor.executed


async def test_calls_with_one_id_are_resumed_after_the_one_that_has_a_result(harness: Harnesses) -> None:
    def answer(made: ToolCall, _: dict[str, Any]) -> ToolOutcome:
        executed.append(made.id)
        if len(executed) == 1:
            return ToolOutcome("done")
        if len(executed) <= 3:
            raise RetryLater(60.0, ProbeErrorCode.TIMEOUT)
        return ToolOutcome("done")

    executed: list[str] = []
    made = tuple(call("pay", call_id="same") for _ in range(3))
    conversation = tool_harness(harness, target=(calls(*made), "Paid."), tool_executor=RecordingExecutor(answer))
    with pytest.raises(RetryLater):
        await conversation.run()
    outcome = await conversation.run()
    assert executed[3:] == executed[1:3]
    assert len(results(outcome)) == 3
