"""Reasoning is separated from the answer wherever a template leaves it."""

import itertools
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.text.reasoning import AnswerFilter, separate_reasoning
from tests.in_one_test import in_one_test

TAGS = (
    ("<think>", "</think>"),
    ("<THINK>", "</THINK>"),
    ("<thinking>", "</thinking>"),
    ("<seed:think>", "</seed:think>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
)
UNOPENED = tuple(pair for pair in TAGS if pair[0] not in ("<thought>", "<reasoning>") and "channel" not in pair[0])
THOUGHT = "Is it 41? No `tag` {x}."
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="<[◁`{"), min_size=1).filter(str.strip)


@pytest.mark.parametrize(("begin", "end"), TAGS)
def test_what_leads_in_tags_is_reasoning(begin: str, end: str) -> None:
    for space, gap in itertools.product(("", "\n", "  "), ("", "\n\n", " ")):
        found = separate_reasoning(f"{space}{begin}{gap}{THOUGHT}{gap}{end}{gap}The answer is 42.")
        assert found == ("The answer is 42.", THOUGHT)


@pytest.mark.parametrize(("begin", "end"), TAGS)
def test_tags_that_are_never_closed_leave_no_answer(begin: str, end: str) -> None:
    assert separate_reasoning(f"{begin}\n{THOUGHT}") == ("", THOUGHT)


@pytest.mark.parametrize(("begin", "end"), UNOPENED)
def test_what_is_before_a_closing_tag_that_nothing_opens_is_reasoning(begin: str, end: str) -> None:
    assert separate_reasoning(f"{THOUGHT}\n{end}\n\nThe answer is 42.") == ("The answer is 42.", THOUGHT)


def test_several_thoughts_are_joined() -> None:
    text = "<think>one</think><think>two</think>The answer<think>three</think> is 42."
    assert separate_reasoning(text) == ("The answer is 42.", "one\n\ntwo\n\nthree")


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 42.",
        "",
        "Write `<think>` and `</think>` around it.",
        "```\n<think>x</think>\n```\nThat is the format.",
        "a < b and [1] and <b>bold</b>",
        '{"reason": "it wrote <think>x</think>", "pass": true}',
        "The tag <think> opens it",
    ],
)
def test_a_text_without_reasoning_is_left_as_it_is(text: str) -> None:
    assert separate_reasoning(text) == (text, "")


@given(thought=WORDS, answer=WORDS, tags=st.sampled_from(TAGS))
def test_nothing_is_lost(thought: str, answer: str, tags: tuple[str, str]) -> None:
    assert separate_reasoning(f"{tags[0]}{thought}{tags[1]}{answer}") == (answer.strip(), thought.strip())


@in_one_test(("begin", "end"), TAGS)
@in_one_test("size", [1, 7, 1_000])
def test_reasoning_that_leads_a_stream_is_not_passed_on(begin: str, end: str, size: int) -> None:
    text = f"{begin}\n{THOUGHT}\n{end}\n\nThe answer is 42."
    stream = AnswerFilter()
    passed = "".join(stream.feed(text[start : start + size]) for start in range(0, len(text), size))
    assert passed == "The answer is 42."


def test_a_stream_without_reasoning_is_passed_on_as_it_arrives() -> None:
    pieces = ["The ", "answer", " is <b>42</b>."]
    assert list(map(AnswerFilter().feed, pieces)) == pieces


def test_many_thoughts_are_separated_in_time() -> None:
    started = perf_counter()
    assert separate_reasoning("<think>x</think> " * 200_000 + "42").answer == "42"
    assert perf_counter() - started < 5
