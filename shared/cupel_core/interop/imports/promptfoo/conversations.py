"""Joins tests of one conversation to one scenario: with `_conversation`, a test's prompt contains the earlier turns.

promptfoo makes a request for each test, in which the prompt repeats what was said. A scenario says each test's message
in one conversation instead, and each assertion names the answer that it is about.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import groupby
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertion_rules import MAX_TURN, OF_ALL_TURNS
from cupel_core.domain.scoring.assertions import SELECT_BEST, Assertion
from cupel_core.domain.scoring.left_out_checks import LeftOutChecks, add_checks
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.media import ImportedMedia
from cupel_core.interop.imports.promptfoo.prompts import read_chat, render_messages, render_prompt
from cupel_core.interop.imports.promptfoo.stored_answers import OPTION, with_placeholders
from cupel_core.sandbox.templating.errors import RenderError

VARIABLE = "_conversation"
_INPUT, _OUTPUT = "\ufdd1input", "\ufdd1output"
"""Stand for an earlier turn; no prompt contains this noncharacter."""


@dataclass(frozen=True)
class ConversationTurn:
    """The scenario of one test, the place of the test, and the conversation it belongs to, if any."""

    scenario: Scenario
    where: str
    key: str | None = None
    repeats_history: bool = True
    """If true, its prompt has the earlier turns as messages between its own and the question, as a conversation has."""
    used_answers: Mapping[str, str] = field(default_factory=dict)
    """The keys are variables; each value is the place of the test whose answer the variable contains."""


def repeats_history(raw: str, variables: Mapping[str, Any], media: ImportedMedia) -> bool:
    """Return whether a prompt has earlier turns as the messages that they were, just before its last one."""
    alone = render_messages(raw, {**variables, VARIABLE: []}, media)
    history = (Message(MessageRole.USER, _INPUT), Message(MessageRole.ASSISTANT, _OUTPUT))
    earlier = {"prompt": _earlier_prompt(raw, variables), "input": _INPUT, "output": _OUTPUT}
    try:
        messages = render_messages(raw, {**variables, VARIABLE: [earlier]}, media)
    except (InvalidDocument, RenderError):
        return False
    return messages == (*alone[:-1], *history, *alone[-1:])


def _earlier_prompt(raw: str, variables: Mapping[str, Any]) -> Any:
    """Return the prompt of an earlier turn as promptfoo passes it: the messages of a chat, else the text."""
    chat = read_chat(render_prompt(raw, {**variables, VARIABLE: []}))
    return [*chat[:-1], {**chat[-1], "content": _INPUT}] if chat else _INPUT


def join_turns(turns: Iterable[ConversationTurn], report: ImportReport) -> Iterator[Scenario]:
    """A scenario for each conversation, and the scenarios of the other tests, in the order of the first tests."""
    positions: dict[str, int] = {}
    keyed = [
        (number if turn.key is None else positions.setdefault(turn.key, number), turn)
        for number, turn in enumerate(_linked(list(turns)))
    ]
    for _, group in groupby(sorted(keyed, key=lambda each: each[0]), key=lambda each: each[0]):
        conversation = [turn for _, turn in group]
        yield conversation[0].scenario if len(conversation) == 1 else _joined(conversation, report)


def _linked(turns: list[ConversationTurn]) -> list[ConversationTurn]:
    """Give the same key to a test that stores an answer and the tests that use it, directly or through other tests."""
    first: dict[str, str] = {}
    for turn in turns:
        roots = {first.get(where, where) for where in turn.used_answers.values()}
        if roots:
            root = min(roots, key=[each.where for each in turns].index)
            first |= {where: root for where, found in first.items() if found in roots}
            first |= dict.fromkeys((*roots, turn.where), root)
    return [replace(turn, key=f"{OPTION} {first[turn.where]}") if turn.where in first else turn for turn in turns]


def _joined(turns: list[ConversationTurn], report: ImportReport) -> Scenario:
    written = add_checks(_checks_of(turn.scenario) for turn in turns)
    for turn in turns[MAX_TURN:]:
        report.skip(turn.where, turn.scenario.name, f"a conversation has at most {MAX_TURN} turns")
    turns = turns[:MAX_TURN]
    is_separate = any(turn.used_answers for turn in turns)
    turns = _separate(turns, report) if is_separate else turns
    first, *others = turns
    if not is_separate:
        _report_conversation(turns, report)
    elif not others:
        return replace(first.scenario, left_out_checks=_missing(written, first.scenario.assertions))
    assertions = [
        each for number, turn in enumerate(turns, start=1) for each in _assertions(turn, number, len(turns), report)
    ]
    return replace(
        first.scenario,
        name=f"{first.scenario.name} and {len(others)} more turn{'' if len(others) == 1 else 's'}",
        metadata=_metadata(turns),
        follow_ups=tuple(turn.scenario.messages[-1].content for turn in others),
        separate_turns=is_separate,
        assertions=tuple(assertions),
        left_out_checks=_missing(written, assertions),
    )


def _checks_of(scenario: Scenario) -> LeftOutChecks:
    """Count the author's checks by type: those that the scenario has, and those that were left out already."""
    return add_checks([Counter(each.type for each in scenario.assertions), scenario.left_out_checks])


def _missing(written: LeftOutChecks, assertions: Iterable[Assertion]) -> LeftOutChecks:
    """Count the checks that were written and are missing, also those of turns that are left out."""
    return dict(Counter(written) - Counter(each.type for each in assertions))


def _separate(turns: list[ConversationTurn], report: ImportReport) -> list[ConversationTurn]:
    """Return the tests that can be turns of one scenario, with placeholders for the answers that they use."""
    numbers: dict[str, int] = {}
    asked: list[ConversationTurn] = []
    for turn in turns:
        before = turn.scenario.messages[:-1]
        if asked and before != asked[0].scenario.messages[:-1]:
            why = "its messages before the last one are not those of the test whose answer is stored"
            report.skip(turn.where, turn.scenario.name, why)
        elif missing := [name for name, where in turn.used_answers.items() if where not in numbers]:
            report.skip(turn.where, turn.scenario.name, f"it needs {missing[0]}, of a test that is left out")
        else:
            used = {name: numbers[where] for name, where in turn.used_answers.items()}
            asked.append(replace(turn, scenario=with_placeholders(turn.scenario, used)))
            numbers[turn.where] = len(asked)
    if len(asked) > 1:
        why = f"{len(asked)} tests become separate turns of one scenario, which use the target's own answers"
        report.note_change(asked[0].where, OPTION, why)
    return asked


def _report_conversation(turns: list[ConversationTurn], report: ImportReport) -> None:
    first, *others = turns
    report.note_change(first.where, VARIABLE, f"{len(turns)} tests become the turns of one conversation")
    for turn in others:
        if not turn.repeats_history or turn.scenario.messages[:-1] != first.scenario.messages[:-1]:
            why = "of this prompt, only the last message is sent; the earlier turns are messages of the conversation"
            report.note_change(turn.where, VARIABLE, why)


def _metadata(turns: list[ConversationTurn]) -> dict[str, object]:
    """The first test's metadata, with the variables of all tests: of equal names, those of the last one."""
    metadata = dict(turns[0].scenario.metadata)
    variables = {name: value for turn in turns for name, value in turn.scenario.variables.items()}
    source = metadata.get("promptfoo")
    source = {**(source if isinstance(source, Mapping) else {}), "turns": [turn.where for turn in turns]}
    return {**metadata, "vars": variables, "promptfoo": source}


def _assertions(turn: ConversationTurn, number: int, count: int, report: ImportReport) -> Iterator[Assertion]:
    for assertion in turn.scenario.assertions:
        if (reason := _reason_to_skip(assertion, number, count)) is None:
            yield _of_turn(assertion, number)
        else:
            report.skip(turn.where, assertion.type, reason)


def _reason_to_skip(assertion: Assertion, number: int, count: int) -> str | None:
    if any(_reason_to_skip(part, number, count) for part in assertion.parts):
        return "it has a part that is measured once per conversation"
    if assertion.parts or assertion.kind not in OF_ALL_TURNS or (assertion.kind == SELECT_BEST and number == count):
        return None
    return "it is measured once per conversation, and its test became one of several turns"


def _of_turn(assertion: Assertion, number: int) -> Assertion:
    parts = tuple(_of_turn(part, number) for part in assertion.parts)
    return replace(assertion, parts=parts, turn=None if assertion.kind in OF_ALL_TURNS else number)
