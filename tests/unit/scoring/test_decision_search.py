import time

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.text.patterns import MAX_PATTERN_LENGTH, decision_pattern_error, is_quick_pattern
from cupel_core.sandbox import LimitExceeded
from cupel_core.scoring.decision_search import read_decision

RATING = r"(?im)^rating:\s*([1-5])"


def assistant_messages(*answers: str) -> list[Message]:
    return [Message(MessageRole.ASSISTANT, answer) for answer in answers]


async def test_the_first_group_is_the_code() -> None:
    assert await read_decision(RATING, assistant_messages("It depends.\nRating: 4")) == ("4", "It depends. Rating: 4")


async def test_the_last_match_in_an_answer_counts() -> None:
    decision = await read_decision(RATING, assistant_messages("Rating: 2\nOn reflection:\nRating: 5"))
    assert decision is not None
    assert decision[0] == "5"


async def test_the_last_answer_with_a_decision_counts() -> None:
    decision = await read_decision(RATING, assistant_messages("Rating: 2", "I stand by it."))
    assert decision is not None
    assert decision[0] == "2"


async def test_users_decide_nothing() -> None:
    assert await read_decision(RATING, [Message(MessageRole.USER, "Rating: 1")]) is None


async def test_a_group_beyond_the_codes_is_other() -> None:
    decision = await read_decision(r"answer: (\w+)", assistant_messages("answer: maybe"))
    assert decision is not None
    assert decision[0] == "other"


async def test_a_brace_that_repeats_nothing_is_a_brace() -> None:
    assert await read_decision(r"x{e<=2}: (\d)", assistant_messages("x{e<=2}: 3")) == ("3", "x{e<=2}: 3")


EXPONENTIAL = r"^(a|a)*$"


async def test_a_pattern_of_exponential_time_is_stopped() -> None:
    with pytest.raises(LimitExceeded, match="takes more than"):
        await read_decision(EXPONENTIAL, assistant_messages("a" * 60 + "b"))


async def test_only_a_search_of_limited_time_is_made_in_this_process() -> None:
    used = time.process_time()
    with pytest.raises(LimitExceeded):
        await read_decision(EXPONENTIAL, assistant_messages("a" * 60 + "b"))
    assert time.process_time() - used < 0.2


@pytest.mark.parametrize("pattern", ["(?:ab){99999999}(1)", "(?:" * 9 + "(a){9}" + "){9}" * 9])
async def test_a_pattern_whose_compilation_needs_gigabytes_is_compiled_elsewhere(pattern: str) -> None:
    assert not is_quick_pattern(pattern, 10)
    with pytest.raises(LimitExceeded):
        await read_decision(pattern, assistant_messages("ab"))


def test_sets_that_take_long_to_compile_are_refused() -> None:
    pattern = ("(?i)(" + "[\0-\U0010fffe]" * 190)[: MAX_PATTERN_LENGTH - 1] + ")"
    assert (
        decision_pattern_error(pattern)
        == "must not have more than 20 sets of characters beyond ASCII if it ignores case"
    )
