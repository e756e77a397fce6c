"""Separates a model's reasoning, which it wrote to itself, from its answer.

Servers without a reasoning parser leave it in the text, in the tags of the model's own template. This module alone
decides which part of a text is reasoning, for targets, judges and simulated users.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

_PAIRS = (
    (r"<(?:seed:)?think(?:ing)?>", r"</(?:seed:)?think(?:ing)?>"),  # DeepSeek, Qwen, GLM, MiniMax, Seed
    (r"<thought>", r"</thought>"),
    (r"<reasoning>", r"</reasoning>"),
    (r"\[THINK\]", r"\[/THINK\]"),  # Mistral
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Cohere
    (r"◁think▷", r"◁/think▷"),  # Kimi
    (
        r"(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>",  # gpt-oss
        r"(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>",
    ),
)
_COMPILED = tuple((re.compile(start, re.I), re.compile(end, re.I)) for start, end in _PAIRS)
_START = re.compile("|".join(start for start, _ in _PAIRS), re.I)
_UNOPENED_END = re.compile(
    r"(?<![`\"'])(?:</(?:seed:)?think(?:ing)?>|\[/THINK\]|<\|END_THINKING\|>|◁/think▷)(?![`\"'])", re.I
)
"""Some templates write the opening tag into the prompt, so that the text has only the closing one."""
_BLANKS = re.compile(r"\s*")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.S)
_FIRST_CHARACTERS = ("<", "[", "◁")
_MAX_TAG_LENGTH = 50
_MARKS = ("<", "[THINK]", "[/THINK]", "◁")


class Separated(NamedTuple):
    answer: str
    reasoning: str


def separate_reasoning(text: str) -> Separated:
    """Return the answer, and the reasoning in the text.

    Reasoning is a leading part in tags, even if they are never closed; the part before a closing tag that nothing
    opens; and later complete pairs of tags, except in code and in JSON.
    """
    if not any(mark in text for mark in _MARKS):
        return Separated(text, "")
    thoughts, position = list[str](), 0
    while (opening := _leading_pair(text, position)) is not None:
        begins_at, closing = opening
        ending = closing.search(text, begins_at)
        if ending is None:
            thoughts.append(text[begins_at:])
            position = len(text)
            break
        thoughts.append(text[begins_at : ending.start()])
        position = ending.end()
    rest = text[position:]
    is_json = rest.lstrip().startswith(("{", "["))
    rest, more = (rest, list[str]()) if is_json else _without_later_pairs(rest)
    if not (is_json or thoughts or more) and (ending := _unopened_end(rest)) is not None:
        more, rest = [rest[: ending.start()]], rest[ending.end() :]
    if not thoughts and not more:
        return Separated(text, "")
    return Separated(rest.strip(), "\n\n".join(filter(None, map(str.strip, [*thoughts, *more]))))


class AnswerFilter:
    """Passes on the part of a text that follows its leading reasoning, while the text arrives in pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._follows_reasoning = False
        self.has_begun = False

    def feed(self, piece: str) -> str:
        """Return the further text of the answer that is known with this piece."""
        if self.has_begun:
            return piece
        self._held += piece
        while (opening := _leading_pair(self._held)) is not None:
            ending = opening[1].search(self._held, opening[0])
            if ending is None:
                return ""
            self._held = self._held[ending.end() :]
            self._follows_reasoning = True
        if self._follows_reasoning:
            self._held = self._held.lstrip()
        self.has_begun = not _may_begin_tag(self._held)
        return self._held if self.has_begun else ""


def _may_begin_tag(text: str) -> bool:
    beginning = text.lstrip()
    return not beginning or (len(beginning) < _MAX_TAG_LENGTH and beginning.startswith(_FIRST_CHARACTERS))


def _leading_pair(text: str, position: int = 0) -> tuple[int, re.Pattern[str]] | None:
    """Return where the reasoning that leads the text from this position begins, and the pattern that ends it."""
    blanks = _BLANKS.match(text, position)
    begins_at = blanks.end() if blanks else position
    for start, end in _COMPILED:
        if opening := start.match(text, begins_at):
            return opening.end(), end
    return None


def _without_later_pairs(text: str) -> tuple[str, list[str]]:
    if _START.search(text) is None:
        return text, []
    code = [match.span() for match in _CODE.finditer(text)]
    thoughts, answer, position = list[str](), list[str](), 0
    unclosed = set[re.Pattern[str]]()
    """No later part of the text has these tags, so a hostile text is not searched for them again and again."""
    while (found := _START.search(text, position)) is not None:
        closing = next(end for start, end in _COMPILED if start.fullmatch(found.group()))
        is_code = _is_within(found.start(), code)
        ending = None if is_code or closing in unclosed else closing.search(text, found.end())
        if ending is None:
            if not is_code:
                unclosed.add(closing)
            answer.append(text[position : found.end()])
            position = found.end()
            continue
        answer.append(text[position : found.start()])
        thoughts.append(text[found.end() : ending.start()])
        position = ending.end()
    return "".join([*answer, text[position:]]), thoughts


def _is_within(position: int, spans: list[tuple[int, int]]) -> bool:
    before = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return before >= 0 and position < spans[before][1]


def _unopened_end(text: str) -> re.Match[str] | None:
    """Return the first closing tag, unless an opening one precedes it."""
    ending = _UNOPENED_END.search(text)
    return None if ending is None or _START.search(text, 0, ending.start()) else ending
