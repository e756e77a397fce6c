"""Joins tests of one conversation to one scenario, and prompts to one definition.

promptfoo makes a request for each test, and its prompt repeats the earlier messages. A scenario sends each test's
message in one conversation instead, and each assertion names the answer that it checks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.drafts import DefinitionDraft, ImportReport
from cupel_core.domain.definitions.prompts import prompt_ids
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertion_rules import MAX_TURN, OF_ALL_TURNS
from cupel_core.domain.scoring.assertions import SELECT_BEST, Assertion
from cupel_core.domain.scoring.left_out_checks import LeftOutChecks, add_checks
from cupel_core.domain.scoring.selections import comparisons
from cupel_core.domain.text.control_characters import single_line
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.media import ImportedMedia
from cupel_core.interop.imports.promptfoo.prompts import read_chat, render_messages, render_prompt
from cupel_core.interop.imports.promptfoo.stored_answers import OPTION, with_placeholders
from cupel_core.sandbox.templating.errors import RenderError

VARIABLE = "_conversation"
_INPUT, _OUTPUT = "\ufdd1input", "\ufdd1output"
"""Placeholders of an earlier turn; no prompt contains this noncharacter."""
MAX_PROMPTS = 100
_MAX_LABEL_LENGTH = 100
_MAX_SYSTEM_LENGTH = 200_000


@dataclass(frozen=True)
class ConversationTurn:
    """Holds the scenario of one test, the place of the test, and the conversation it belongs to, if any."""

    scenario: Scenario
    where: str
    key: str | None = None
    repeats_history: bool = True
    """If true, its prompt repeats the earlier turns as messages between its own and the question."""
    used_answers: Mapping[str, str] = field(default_factory=dict)
    """Maps variables to the place of the test whose answer the variable contains."""


def repeats_history(raw: str, variables: Mapping[str, Any], media: ImportedMedia) -> bool:
    alone = render_messages(raw, {**variables, VARIABLE: []}, media)
    history = (Message(MessageRole.USER, _INPUT), Message(MessageRole.ASSISTANT, _OUTPUT))
    earlier = {"prompt": _earlier_prompt(raw, variables), "input": _INPUT, "output": _OUTPUT}
    try:
        messages = render_messages(raw, {**variables, VARIABLE: [earlier]}, media)
    except (InvalidDocument, RenderError):
        return False
    return messages == (*alone[:-1], *history, *alone[-1:])


def _earlier_prompt(raw: str, variables: Mapping[str, Any]) -> Any:
    chat = read_chat(render_prompt(raw, {**variables, VARIABLE: []}))
    return [*chat[:-1], {**chat[-1], "content": _INPUT}] if chat else _INPUT


def join_turns(turns: Iterable[ConversationTurn], report: ImportReport) -> Iterator[Scenario]:
    """Yield a scenario for each conversation, and the scenarios of the other tests, in the order of the first tests."""
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
    return add_checks([Counter(each.type for each in scenario.assertions), scenario.left_out_checks])


def _missing(written: LeftOutChecks, assertions: Iterable[Assertion]) -> LeftOutChecks:
    return dict(Counter(written) - Counter(each.type for each in assertions))


def _separate(turns: list[ConversationTurn], report: ImportReport) -> list[ConversationTurn]:
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
    """Return the first test's metadata with the variables of all tests; later tests override equal names."""
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


class PromptDraft(NamedTuple):
    label: str
    params: Mapping[str, Any]
    draft: DefinitionDraft


def join_prompts(name: str, prompt_drafts: Sequence[PromptDraft]) -> list[DefinitionDraft]:
    """Return one draft with all prompts, if each has the same targets and the same tests.

    A prompt, a test or a provider that is restricted to some of the others needs a definition of its own.
    """
    drafts = [each.draft for each in prompt_drafts]
    if not 1 < len(drafts) <= MAX_PROMPTS or not _are_alike(drafts):
        return [_alone(each) for each in prompt_drafts]
    ids = list(prompt_ids(each.label for each in prompt_drafts))
    first = drafts[0]
    prompts = [_prompt_fields(*each) for each in zip(ids, prompt_drafts, strict=True)]
    scenarios = tuple(
        _joined_scenario(ids, variants) for variants in zip(*(draft.scenarios for draft in drafts), strict=True)
    )
    content = {**{key: value for key, value in first.content.items() if key != "system"}, "prompts": prompts}
    return [replace(first, name=name, content=content, scenarios=scenarios)]


def _are_alike(drafts: Sequence[DefinitionDraft]) -> bool:
    first = drafts[0]
    return all(
        draft.models == first.models
        and draft.targets == first.targets
        and _without_system(draft.content) == _without_system(first.content)
        and list(map(_case, draft.scenarios)) == list(map(_case, first.scenarios))
        for draft in drafts[1:]
    )


def _without_system(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != "system"}


def _case(scenario: Scenario) -> Scenario:
    return replace(scenario, messages=(), metadata=_prompt_metadata(scenario))


def _prompt_metadata(scenario: Scenario) -> dict[str, object]:
    source = scenario.metadata.get("promptfoo")
    own = {name: value for name, value in source.items() if name != "prompt"} if isinstance(source, Mapping) else {}
    return {**scenario.metadata, "promptfoo": own}


def _joined_scenario(ids: Sequence[str], variants: Sequence[Scenario]) -> Scenario:
    by_prompt = {prompt_id: scenario.messages for prompt_id, scenario in zip(ids, variants, strict=True)}
    return replace(variants[0], messages=(), metadata=_prompt_metadata(variants[0]), messages_by_prompt=by_prompt)


def _alone(prompt: PromptDraft) -> DefinitionDraft:
    """Return the prompt's own definition, with its parameters in a prompt of the definition.

    There they take precedence over the parameters of a provider, unlike defaults of a definition.
    """
    if not prompt.params:
        return prompt.draft
    [prompt_id] = prompt_ids([prompt.label])
    own = {"id": prompt_id, **_label(prompt), "params": dict(prompt.params)}
    return replace(prompt.draft, content={**prompt.draft.content, "prompts": [own]})


def _prompt_fields(prompt_id: str, prompt: PromptDraft) -> dict[str, Any]:
    system = prompt.draft.content.get("system")
    return {
        "id": prompt_id,
        **_label(prompt),
        **({"system": system} if system else {}),
        **({"params": dict(prompt.params)} if prompt.params else {}),
    }


def _label(prompt: PromptDraft) -> dict[str, str]:
    label = single_line(prompt.label)[:_MAX_LABEL_LENGTH].rstrip()
    return {"label": label} if label else {}


def report_divided_comparisons(drafts: Sequence[DefinitionDraft], report: ImportReport) -> None:
    """Report comparisons of tests that are in several definitions: only the answers of one run are compared."""
    if len(drafts) < 2:
        return
    compared = (
        (_place_of(scenario), comparison.type)
        for draft in drafts
        for scenario in draft.scenarios
        for comparison in comparisons(scenario.assertions)
    )
    for (where, kind), count in Counter(compared).items():
        if count > 1:
            why = f"compares the answers of each definition by itself, and its test is in {count} definitions"
            report.note_change(f"{where}.assert", kind, why)


def _place_of(scenario: Scenario) -> str:
    source = scenario.metadata["promptfoo"]
    return str(source["where"]) if isinstance(source, Mapping) else ""


def shared_system(scenarios: list[Scenario]) -> tuple[str | None, tuple[Scenario, ...]]:
    """Move a system message common to all scenarios to the definition; different ones stay in the scenarios."""
    first_messages = {scenario.messages[0] for scenario in scenarios}
    first = next(iter(first_messages))
    is_shared = len(first_messages) == 1 and first.role is MessageRole.SYSTEM
    if not is_shared or len(first.content) > _MAX_SYSTEM_LENGTH:
        return None, tuple(scenarios)
    return first.content, tuple(replace(scenario, messages=scenario.messages[1:]) for scenario in scenarios)
