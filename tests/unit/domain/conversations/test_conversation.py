from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.conversations.conversation import (
    ConversationOutcome,
    ConversationRules,
    ConversationState,
    Criteria,
    FailureCriteriaMode,
    NextStep,
    Verdict,
    apply_verdict,
    next_step,
    outcome_of,
)
from cupel_core.domain.conversations.model_request import Message, MessageRole, Usage
from cupel_core.domain.conversations.spend import Spend

USER, ASSISTANT = Message(MessageRole.USER, "hello"), Message(MessageRole.ASSISTANT, "hi")
BOTH = Criteria("booked", "refused")

verdicts = st.builds(
    Verdict,
    success_met=st.booleans(),
    failure_met=st.booleans(),
    confidence=st.floats(0, 1),
    reasoning=st.text(max_size=5),
    raw_response=st.just(""),
)
any_criteria = st.builds(
    Criteria,
    success=st.sampled_from([None, "booked"]),
    failure=st.sampled_from([None, "refused"]),
    mode=st.sampled_from(FailureCriteriaMode),
).filter(bool)
rules_of_all_kinds = st.builds(
    ConversationRules,
    criteria=st.builds(Criteria, success=st.sampled_from([None, "booked"]), failure=st.sampled_from([None, "refused"])),
    has_judge=st.booleans(),
    max_messages=st.integers(1, 9),
    scripted=st.lists(st.just("go on"), max_size=4).map(tuple),
    max_turns=st.none() | st.integers(1, 5),
)


def messages(*roles: str) -> tuple[Message, ...]:
    return tuple(Message(MessageRole.USER if role == "u" else MessageRole.ASSISTANT, role) for role in roles)


def verdict(success: bool = False, failure: bool = False) -> Verdict:
    return Verdict(success, failure, 0.9, "because", "{}")


@given(verdicts, any_criteria, st.booleans())
def test_success_always_passes_if_there_are_success_criteria(
    judged: Verdict, criteria: Criteria, is_last: bool
) -> None:
    outcome = apply_verdict(replace(judged, success_met=True), replace(criteria, success="booked"), is_last=is_last)
    assert outcome is ConversationOutcome.PASSED


@given(verdicts, any_criteria)
def test_the_last_message_always_decides(judged: Verdict, criteria: Criteria) -> None:
    assert apply_verdict(judged, criteria, is_last=True) is not ConversationOutcome.CONTINUE


@given(verdicts, any_criteria, st.booleans())
def test_failure_ends_a_conversation_early_only_in_the_mode_every_turn(
    judged: Verdict, criteria: Criteria, is_last: bool
) -> None:
    outcome = apply_verdict(judged, replace(criteria, mode=FailureCriteriaMode.ON_MAX_MESSAGES), is_last=is_last)
    assert is_last or outcome is not ConversationOutcome.FAILED
    failing = replace(judged, failure_met=True, success_met=False)
    every_turn = replace(criteria, failure="refused", mode=FailureCriteriaMode.EVERY_TURN)
    assert apply_verdict(failing, every_turn, is_last=is_last) is ConversationOutcome.FAILED


@given(verdicts, any_criteria, st.booleans())
def test_a_missing_criterion_decides_nothing(judged: Verdict, criteria: Criteria, is_last: bool) -> None:
    without_success = replace(criteria, success=None)
    flipped = replace(judged, success_met=not judged.success_met)
    assert apply_verdict(judged, without_success, is_last=is_last) is apply_verdict(
        flipped, without_success, is_last=is_last
    )
    without_failure = replace(criteria, failure=None)
    flipped = replace(judged, failure_met=not judged.failure_met)
    assert apply_verdict(judged, without_failure, is_last=is_last) is apply_verdict(
        flipped, without_failure, is_last=is_last
    )


@pytest.mark.parametrize(
    ("met", "criteria", "is_last", "outcome"),
    [
        (verdict(), BOTH, False, ConversationOutcome.CONTINUE),
        (verdict(), BOTH, True, ConversationOutcome.FAILED),
        (verdict(failure=True), BOTH, False, ConversationOutcome.CONTINUE),
        (verdict(failure=True), BOTH, True, ConversationOutcome.FAILED),
        (verdict(success=True, failure=True), BOTH, False, ConversationOutcome.PASSED),
        (verdict(), Criteria(failure="refused"), True, ConversationOutcome.PASSED),
        (verdict(), Criteria(success="booked"), True, ConversationOutcome.FAILED),
    ],
)
def test_the_outcome_of_a_verdict(
    met: Verdict, criteria: Criteria, is_last: bool, outcome: ConversationOutcome
) -> None:
    assert apply_verdict(met, criteria, is_last=is_last) is outcome


@given(rules_of_all_kinds, st.lists(verdicts, min_size=10, max_size=10), st.sampled_from(["", "u", "ua", "uau"]))
def test_every_conversation_ends_within_its_limits(
    rules: ConversationRules, verdicts_by_turn: list[Verdict], seed: str
) -> None:
    state, calls = ConversationState(messages(*seed)), 0
    while (step := next_step(state, rules)) is not NextStep.END:
        calls += 1
        assert calls < 40
        if step is NextStep.CALL_TARGET:
            state = replace(state, messages=(*state.messages, ASSISTANT), turns=state.turns + 1, verdict=None)
        elif step is NextStep.JUDGE:
            assert state.verdict is None
            assert rules.is_judged
            state = replace(state, verdict=verdicts_by_turn[state.turns % 10])
        else:
            state = replace(state, messages=(*state.messages, USER), verdict=None)
    assert state.turns >= 1
    assert rules.max_turns is None or state.turns <= rules.max_turns
    if rules.is_judged:
        assert outcome_of(state, rules) is not ConversationOutcome.CONTINUE
        assert state.turns == 1 or state.message_count <= rules.max_messages
    else:
        assert state.turns <= 1 + len(rules.scripted)


def test_a_conversation_without_a_judge_is_a_single_turn() -> None:
    state = ConversationState(messages("u", "a"), turns=1)
    assert next_step(state, ConversationRules(criteria=BOTH)) is NextStep.END


def test_a_judge_without_criteria_has_nothing_to_judge() -> None:
    assert next_step(ConversationState(messages("u", "a"), turns=1), ConversationRules(has_judge=True)) is NextStep.END


def test_seed_messages_count_as_messages() -> None:
    rules = ConversationRules(BOTH, has_judge=True, max_messages=4)
    judged = ConversationState(messages("u", "a", "u", "a"), turns=1, verdict=verdict())
    assert next_step(judged, rules) is NextStep.END
    assert next_step(judged, replace(rules, max_messages=6)) is NextStep.SIMULATE_USER


def test_a_system_prompt_is_no_message_of_the_conversation() -> None:
    assert ConversationState((Message(MessageRole.SYSTEM, "Be kind."), USER)).message_count == 1


def test_seed_messages_that_end_with_the_agent_are_continued_by_the_user() -> None:
    assert (
        next_step(ConversationState(messages("u", "a")), ConversationRules(BOTH, has_judge=True))
        is NextStep.SIMULATE_USER
    )
    assert next_step(ConversationState(messages("u", "a")), ConversationRules()) is NextStep.CALL_TARGET


def test_there_is_no_outcome_before_a_verdict() -> None:
    with pytest.raises(ValueError, match="no verdict"):
        outcome_of(ConversationState(messages("u", "a"), turns=1), ConversationRules(BOTH, has_judge=True))


def test_a_cost_that_is_not_known_stays_unknown() -> None:
    total = Spend(1, Usage(3, 4), 0.5) + Spend(1, Usage(1, 1), None)
    assert total == Spend(2, Usage(4, 5), None)
    assert (total + Spend(1, Usage(1, 1), 1.0)).cost_usd is None


def test_only_words_of_the_targets_own_answers_count() -> None:
    opening = (Message(MessageRole.USER, "one two"), Message(MessageRole.ASSISTANT, "three four five"))
    said = (*opening, Message(MessageRole.USER, "six"), Message(MessageRole.ASSISTANT, "seven\n eight"))
    assert ConversationState(said, turns=1).answer_word_count == 2
    assert ConversationState(opening, turns=0).answer_word_count == 0
