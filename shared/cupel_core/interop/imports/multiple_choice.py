from collections.abc import Mapping
from typing import Any, NamedTuple

from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.conversations.parts import TextPart
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.match_values import choice_error, has_several_answers, letter_of
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.samples import Sample, texts_of


class Choices(NamedTuple):
    texts: list[Any]
    labels: list[str]
    """The file names the choices by these if it does not use letters: some questions of ARC have numbers."""


def read_choices(value: Any, sample: Sample) -> Choices:
    labels: list[str] = []
    if isinstance(value, Mapping):
        named, value = value.get("label"), value.get("text")
        labels = list(map(str, named)) if isinstance(named, list) else []
    if isinstance(value, str):
        parts = value.split(",") if "," in value else value.split()
        value = [part.strip() for part in parts if part.strip()]
    choices = [] if value is None else value
    if not isinstance(choices, list):
        raise InvalidDocument(f"{sample.where}: choices must be a list or a text")
    return Choices(choices, labels)


def with_choices(message: Message, choices: list[Any], target: str | list[str], where: str) -> Message:
    if target and (error := choice_error({"target": target, "choices": len(choices)})):
        raise InvalidDocument(f"{where} has choices, so it {error}")
    asked = TextPart(_prompt(message.spoken_text, choices, target))
    return Message.of_parts(message.role, (asked, *message.files))


def choice_assertions(target: str | list[str], choices: list[Any]) -> tuple[Assertion, ...]:
    return (Assertion("choice", value={"target": target, "choices": len(choices)}),) if target else ()


def letters_of(answer: Any, choices: Choices, sample: Sample) -> list[str]:
    given = answer if isinstance(answer, list) else [answer]
    return [_letter(each, choices, sample) for each in given if texts_of(each)]


def _letter(answer: Any, choices: Choices, sample: Sample) -> str:
    letters = letters_for(choices.texts)
    texts = [texts_of(choice) for choice in choices.texts]
    if isinstance(answer, int) and not isinstance(answer, bool) and [str(answer)] not in texts:
        if 0 <= answer < len(letters):
            sample.notes.change(sample.where, "answer", "it is a number, which counts the choices from 0: 0 is A")
            return letters[answer]
        raise InvalidDocument(f"{sample.where}: the answer {answer} is no choice of 0 to {len(letters) - 1}")
    [text] = texts_of(answer)
    if text in choices.labels[: len(letters)]:
        return letters[choices.labels.index(text)]
    if text in letters and texts.count([text]) == 0:
        return text
    if texts.count([text]) == 1:
        return letters[texts.index([text])]
    raise InvalidDocument(
        f"{sample.where} has {len(letters)} choices, so its answer must be one of the letters A to {letters[-1]} or "
        f"the text of a choice, not {text[:40]}"
    )


def _prompt(question: str, choices: list[Any], target: str | list[str]) -> str:
    letters = letters_for(choices)
    options = "\n".join(f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=True))
    is_multiple = bool(target) and has_several_answers(target)
    several = " where multiple answers may be correct" if is_multiple else ""
    name, number = ("LETTERS", "one or more") if is_multiple else ("LETTER", "one")
    return (
        f"Answer the following multiple choice question{several}. The entire content of your response should be of the "
        f"following format: 'ANSWER: ${name}' (without quotes) where {name} is {number} of {','.join(letters)}.\n\n"
        f"{question}\n\n{options}"
    )


def letters_for(choices: list[Any]) -> list[str]:
    return [letter_of(position) for position in range(len(choices))]
