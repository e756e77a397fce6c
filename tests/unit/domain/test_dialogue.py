from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.turns.conversation import (
    Criteria,
    Dialogue,
    FailureMode,
    Move,
    Rules,
    Ruling,
    Spend,
    Verdict,
    decide,
    next_move,
    rule,
)
from cupel_core.domain.turns.model_request import Message, Role, Usage

USER, ASSISTANT = Message(Role.USER, "hello"), Message(Role.ASSISTANT, "hi")
BOTH = Criteria("booked", "refused")

verdicts = st.builds(
    Verdict,
    success_met=st.booleans(),
    failure_met=st.booleans(),
    confidence=st.floats(0, 1),
    reasoning=st.text(max_size=5),
    raw_response=st.just(""),
)
criteria = st.builds(
    Criteria,
    success=st.sampled_from([None, "booked"]),
    failure=st.sampled_from([None, "refused"]),
    mode=st.sampled_from(FailureMode),
).filter(bool)
rules_of_all_kinds = st.builds(
    Rules,
    criteria=st.builds(Criteria, success=st.sampled_from([None, "booked"]), failure=st.sampled_from([None, "refused"])),
    judged=st.booleans(),
    max_messages=st.integers(1, 9),
    scripted=st.lists(st.just("go on"), max_size=4).map(tuple),
    max_turns=st.none() | st.integers(1, 5),
)


def said(*roles: str) -> tuple[Message, ...]:
    return tuple(Message(Role.USER if role == "u" else Role.ASSISTANT, role) for role in roles)


def verdict(success: bool = False, failure: bool = False) -> Verdict:
    return Verdict(success, failure, 0.9, "because", "{}")


@given(verdicts, criteria, st.booleans())
def test_success_that_is_looked_for_always_passes(found: Verdict, wanted: Criteria, is_last: bool) -> None:
    ruling = decide(replace(found, success_met=True), replace(wanted, success="booked"), is_last=is_last)
    assert ruling is Ruling.PASSED


@given(verdicts, criteria)
def test_the_last_message_always_decides(found: Verdict, wanted: Criteria) -> None:
    assert decide(found, wanted, is_last=True) is not Ruling.CONTINUE


@given(verdicts, criteria, st.booleans())
def test_failure_ends_a_conversation_early_only_in_the_mode_every_turn(
    found: Verdict, wanted: Criteria, is_last: bool
) -> None:
    ruling = decide(found, replace(wanted, mode=FailureMode.ON_MAX_MESSAGES), is_last=is_last)
    assert is_last or ruling is not Ruling.FAILED
    failing = replace(found, failure_met=True, success_met=False)
    every_turn = replace(wanted, failure="refused", mode=FailureMode.EVERY_TURN)
    assert decide(failing, every_turn, is_last=is_last) is Ruling.FAILED


@given(verdicts, criteria, st.booleans())
def test_what_is_not_looked_for_decides_nothing(found: Verdict, wanted: Criteria, is_last: bool) -> None:
    without_success = replace(wanted, success=None)
    flipped = replace(found, success_met=not found.success_met)
    assert decide(found, without_success, is_last=is_last) is decide(flipped, without_success, is_last=is_last)
    without_failure = replace(wanted, failure=None)
    flipped = replace(found, failure_met=not found.failure_met)
    assert decide(found, without_failure, is_last=is_last) is decide(flipped, without_failure, is_last=is_last)


@pytest.mark.parametrize(
    ("met", "wanted", "is_last", "ruling"),
    [
        (verdict(), BOTH, False, Ruling.CONTINUE),
        (verdict(), BOTH, True, Ruling.FAILED),
        (verdict(failure=True), BOTH, False, Ruling.CONTINUE),
        (verdict(failure=True), BOTH, True, Ruling.FAILED),
        (verdict(success=True, failure=True), BOTH, False, Ruling.PASSED),
        (verdict(), Criteria(failure="refused"), True, Ruling.PASSED),
        (verdict(), Criteria(success="booked"), True, Ruling.FAILED),
    ],
)
def test_a_ruling(met: Verdict, wanted: Criteria, is_last: bool, ruling: Ruling) -> None:
    assert decide(met, wanted, is_last=is_last) is ruling


@given(rules_of_all_kinds, st.lists(verdicts, min_size=10, max_size=10), st.sampled_from(["", "u", "ua", "uau"]))
def test_every_conversation_ends_within_its_limits(rules: Rules, found: list[Verdict], seed: str) -> None:
    dialogue, calls = Dialogue(said(*seed)), 0
    while (move := next_move(dialogue, rules)) is not Move.END:
        calls += 1
        assert calls < 40
        if move is Move.ASK:
            dialogue = replace(
                dialogue, messages=(*dialogue.messages, ASSISTANT), turns=dialogue.turns + 1, verdict=None
            )
        elif move is Move.JUDGE:
            assert dialogue.verdict is None
            assert rules.evaluated
            dialogue = replace(dialogue, verdict=found[dialogue.turns % 10])
        else:
            dialogue = replace(dialogue, messages=(*dialogue.messages, USER), verdict=None)
    assert dialogue.turns >= 1
    assert rules.max_turns is None or dialogue.turns <= rules.max_turns
    if rules.evaluated:
        assert rule(dialogue, rules) is not Ruling.CONTINUE
        assert dialogue.turns == 1 or dialogue.length <= rules.max_messages
    else:
        assert dialogue.turns <= 1 + len(rules.scripted)


def test_a_conversation_without_a_judge_is_a_single_turn() -> None:
    dialogue = Dialogue(said("u", "a"), turns=1)
    assert next_move(dialogue, Rules(criteria=BOTH)) is Move.END


def test_a_judge_without_criteria_has_nothing_to_judge() -> None:
    assert next_move(Dialogue(said("u", "a"), turns=1), Rules(judged=True)) is Move.END


def test_seed_messages_count_as_messages() -> None:
    rules = Rules(BOTH, judged=True, max_messages=4)
    judged = Dialogue(said("u", "a", "u", "a"), turns=1, verdict=verdict())
    assert next_move(judged, rules) is Move.END
    assert next_move(judged, replace(rules, max_messages=6)) is Move.SPEAK


def test_a_system_prompt_is_no_message_of_the_conversation() -> None:
    assert Dialogue((Message(Role.SYSTEM, "Be kind."), USER)).length == 1


def test_seed_messages_that_end_with_the_agent_are_gone_on_with_by_the_user() -> None:
    assert next_move(Dialogue(said("u", "a")), Rules(BOTH, judged=True)) is Move.SPEAK
    assert next_move(Dialogue(said("u", "a")), Rules()) is Move.ASK


def test_there_is_no_ruling_before_a_verdict() -> None:
    with pytest.raises(ValueError, match="no verdict"):
        rule(Dialogue(said("u", "a"), turns=1), Rules(BOTH, judged=True))


def test_a_cost_that_is_not_known_stays_unknown() -> None:
    total = Spend(1, Usage(3, 4), 0.5) + Spend(1, Usage(1, 1), None)
    assert total == Spend(2, Usage(4, 5), None)
    assert (total + Spend(1, Usage(1, 1), 1.0)).cost_usd is None
