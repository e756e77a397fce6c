"""Samples in the formats of other tools as a definition with scenarios: Inspect, OpenAI evals, CSV, JSONL."""

import csv
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from io import StringIO
from typing import Any

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertion_rules import complaints
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.json_limits import unfit
from cupel_core.domain.turns.model_request import Message, Role
from cupel_core.imports.drafts import MAX_SCENARIOS, Draft, Report, Suite
from cupel_core.imports.json_documents import Unreadable, from_json, from_jsonl, literal, to_json

_ROLES = {"developer": Role.SYSTEM} | {str(role): role for role in Role}
_LETTERS = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ"]


class Format(StrEnum):
    INSPECT = "inspect"
    OPENAI_EVALS = "openai-evals"
    CSV = "csv"
    JSONL = "jsonl"


class Scorer(StrEnum):
    """How an answer is compared with a sample's target, in Inspect's words."""

    INCLUDES = "includes"
    """Anywhere, in any case: Inspect's `includes()`."""
    MATCH = "match"
    """At the end in any case, as Inspect's `match()`; at the start, as OpenAI evals' `Match`."""
    EXACT = "exact"


def read(text: str, kind: Format, name: str, scorer: Scorer | None = None) -> Suite:
    """All samples or none: Unreadable names the first line that is wrong."""
    report = Report()
    scenarios = tuple(_scenarios(text, kind, scorer, report))
    if not scenarios:
        raise Unreadable("there are no samples in it")
    report.take("scenarios", len(scenarios))
    content: dict[str, Any] = {"maxTurns": 1}
    return Suite((Draft(name, content, scenarios, tags=(str(kind),)),), report)


def _scenarios(text: str, kind: Format, scorer: Scorer | None, report: Report) -> Iterator[Scenario]:
    one = _READERS[kind]
    for count, (where, sample) in enumerate(_samples(text, kind), start=1):
        if count > MAX_SCENARIOS:
            raise Unreadable(f"there are more than {MAX_SCENARIOS:,} samples")
        if not isinstance(sample, Mapping):
            raise Unreadable(f"{where} is no object")
        scenario = one(sample, where, scorer, report)
        if why := unfit(scenario.metadata):
            raise Unreadable(f"{where}: its metadata {why}")
        if wrong := complaints([assertion.to_json() for assertion in scenario.assertions]):
            raise Unreadable(f"{where}: {wrong[0].field} {wrong[0].message}")
        yield scenario


def _samples(text: str, kind: Format) -> Iterator[tuple[str, Any]]:
    if kind is Format.CSV:
        reader = csv.DictReader(StringIO(text.removeprefix("\N{BYTE ORDER MARK}"), newline=""), strict=True)
        try:
            yield from ((f"line {reader.line_num}", row) for row in reader)
        except csv.Error as error:
            raise Unreadable(f"line {reader.line_num} is not valid CSV: {error}") from None
    elif kind is Format.INSPECT and text.lstrip()[:1] == "[":
        yield from ((f"sample {number}", each) for number, each in enumerate(from_json(text, "the file"), start=1))
    else:
        yield from ((f"line {number}", each) for number, each in from_jsonl(text, "the file"))


def _inspect(sample: Mapping[str, Any], where: str, scorer: Scorer | None, report: Report) -> Scenario:
    for name in sorted({"sandbox", "files", "setup"} & {name for name, value in sample.items() if value}):
        report.leave(where, name, "runs programs, which is not what a scenario does")
    choices, metadata = sample.get("choices") or [], sample.get("metadata") or {}
    if not isinstance(choices, list) or not isinstance(metadata, Mapping):
        raise Unreadable(f"{where} has choices that are no list, or metadata that are no object")
    messages = _messages(sample.get("input"), where)
    if choices:
        messages = (*messages[:-1], Message(messages[-1].role, _with_choices(messages[-1].content, choices)))
    targets = _texts(sample.get("target"))
    if choices and not all(each in _LETTERS for each in targets):
        raise Unreadable(f"{where} has choices, and a target that is no letter")
    assertions = _of_choice(targets) if choices else _of_target(targets, scorer)
    known = {**metadata, **_kept(sample, "id", "target", "choices")}
    return Scenario("", _name(sample.get("id")), messages, metadata=known, assertions=assertions)


def _with_choices(question: str, choices: list[Any]) -> str:
    """The words of Inspect's `multiple_choice()`."""
    letters = _LETTERS[: len(choices)]
    listed = "\n".join(f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=False))
    return (
        "Answer the following multiple choice question. The entire content of your response should be of the following "
        f"format: 'ANSWER: $LETTER' (without quotes) where LETTER is one of {','.join(letters)}.\n\n"
        f"{question}\n\n{listed}"
    )


def _of_choice(letters: list[str]) -> tuple[Assertion, ...]:
    chosen = "[, ]*".join(letters)
    return (Assertion("regex", value=rf"(?i)ANSWER\s*:\s*{chosen}(?![A-Za-z])"),) if letters else ()


def _of_target(targets: list[str], scorer: Scorer | None) -> tuple[Assertion, ...]:
    if not targets:
        return ()
    if scorer is Scorer.MATCH:
        return (Assertion("regex", value=rf"(?i)(?:{'|'.join(map(_escaped, targets))})[\s.!?,;:'\"*)]*$"),)
    if scorer is Scorer.EXACT:
        return _any_of("equals", targets)
    return (Assertion("icontains-any", value=literal(targets)),)


def _openai(sample: Mapping[str, Any], where: str, scorer: Scorer | None, _: Report) -> Scenario:
    """Also an output item of an evaluation that was run: what was asked is in its `item`."""
    sample = sample["item"] if isinstance(sample.get("item"), Mapping) else sample
    ideal = _texts(sample.get("ideal"))
    match scorer:
        case Scorer.INCLUDES:
            assertions = _any_of("contains", ideal)
        case Scorer.EXACT:
            assertions = _any_of("equals", ideal)
        case Scorer.MATCH | None:
            assertions = _any_of("starts-with", ideal)
    rest = {name: value for name, value in sample.items() if name not in ("input", "ideal")}
    metadata = {**rest, **_kept(sample, "ideal")}
    return Scenario("", "", _messages(sample.get("input"), where), metadata=metadata, assertions=assertions)


def _table(sample: Mapping[str, Any], where: str, scorer: Scorer | None, _: Report) -> Scenario:
    """`input` or `prompt`, and what is right in `target`, `ideal` or `expected`; the other columns are metadata."""
    question = next((name for name in ("input", "prompt", "messages", "question") if sample.get(name)), None)
    answer = next((name for name in ("target", "ideal", "expected", "answer") if sample.get(name)), None)
    if question is None:
        raise Unreadable(f"{where} has no input, prompt, messages or question")
    if None in sample or None in sample.values():
        raise Unreadable(f"{where} has more or fewer cells than the header")
    metadata = {name: value for name, value in sample.items() if name not in (question, "id", "name") and value}
    asked = sample[question]
    if question == "messages" and isinstance(asked, str):
        asked = from_json(asked, where)
    assertions = _of_target(_texts(sample.get(answer or "")), scorer)
    name = _name(sample.get("name") or sample.get("id"))
    return Scenario("", name, _messages(asked, where), metadata=metadata, assertions=assertions)


type _Reader = Callable[[Mapping[str, Any], str, Scorer | None, Report], Scenario]
_READERS: Mapping[Format, _Reader] = {
    Format.INSPECT: _inspect,
    Format.OPENAI_EVALS: _openai,
    Format.CSV: _table,
    Format.JSONL: _table,
}


def _messages(written: Any, where: str) -> tuple[Message, ...]:
    if isinstance(written, str) and written.strip():
        return (Message(Role.USER, written),)
    if not isinstance(written, list) or not written:
        raise Unreadable(f"{where} has no input: a text, or messages")
    return tuple(_message(each, where) for each in written)


def _message(written: Any, where: str) -> Message:
    role = _ROLES.get(str(written.get("role"))) if isinstance(written, Mapping) else None
    if role is None:
        raise Unreadable(f"{where} has a message that is not of a system, a user or an assistant")
    content = written.get("content")
    if isinstance(content, list) and all(isinstance(part, Mapping) and "text" in part for part in content):
        content = "".join(str(part["text"]) for part in content)
    if not isinstance(content, str) or not content.strip():
        raise Unreadable(f"{where} has a message whose content is no text, or empty")
    return Message(role, content)


def _texts(written: Any) -> list[str]:
    values = written if isinstance(written, list) else [] if written in (None, "") else [written]
    return [each if isinstance(each, str) else to_json(each) for each in values]


def _any_of(kind: str, texts: list[str]) -> tuple[Assertion, ...]:
    """One that holds is enough: a set whose mean must be that of one."""
    parts = tuple(Assertion(kind, value=literal(text)) for text in texts)
    if len(parts) < 2:
        return parts
    return (Assertion("assert-set", threshold=1 / len(parts), parts=parts),)


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in r"\^$.|?*+()[]{}/" else char for char in text)


def _kept(sample: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: sample[name] for name in names if sample.get(name) not in (None, "", [])}


def _name(written: Any) -> str:
    return "" if written is None else str(written)[:500]
