"""Reads the values of assertions that compare an answer with expected ones as Inspect and OpenAI's evals do."""

import json
from collections.abc import Mapping
from typing import Any

from cupel_core.domain.text.finite_numbers import is_finite_number
from cupel_core.domain.text.numerals import find_numbers

LOCATIONS = ("begin", "end", "any", "exact")
MAX_CHOICES = 1_000
MAX_NUMBER_LENGTH = 1_000
"""The text with the expected number has at most this many characters, because every check reads it again."""
_LETTERS = 26
_CONFIG_OF_MATCH = frozenset({"location", "ignoreCase", "numeric"})
_CONFIG_OF_NUMBER = frozenset({"location", "tolerance"})


def letter_of(position: int) -> str:
    """Return the name of the choice at this position, from 0: A to Z, and then 1, 2, …, as in Inspect."""
    return chr(ord("A") + position) if position < _LETTERS else str(position - _LETTERS + 1)


def position_of(letter: str) -> int:
    """Return the position of the choice. Raises ValueError unless it is a letter or a number from 1."""
    if len(letter) == 1 and letter.isascii() and letter.isalpha():
        return ord(letter.upper()) - ord("A")
    if letter.isdecimal() and int(letter) > 0:
        return _LETTERS + int(letter) - 1
    raise ValueError(f"{letter} is neither a letter nor a number from 1")


def target_positions(target: str | list[str]) -> list[int]:
    """Return the positions of the right choices in `B`, `A,C`, `AC` or `["A", "C"]`. Raises ValueError."""
    tokens = [token for text in texts_of(target) for token in text.replace(",", " ").split()]
    letters = [letter for token in tokens for letter in ([token] if token.isdecimal() else token)]
    return sorted({position_of(letter) for letter in letters})


def has_several_answers(target: str | list[str]) -> bool:
    """Return whether an answer may name several choices: the target is a list, or a text with several letters."""
    return isinstance(target, list) or len(target_positions(target)) > 1


def choice_error(value: Any) -> str | None:
    if not isinstance(value, dict) or set(value) != {"target", "choices"}:
        return "must have target (B, or a list of letters) and choices (how many there are)"
    target, count = value["target"], value["choices"]
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_CHOICES:
        return f"must have choices from 1 to {MAX_CHOICES:,}"
    if targets_error(target):
        return "must have a target: a letter, or a list of letters"
    try:
        positions = target_positions(target)
    except ValueError as error:
        return f"must have letters as its target: {error}"
    if not positions or positions[-1] >= count:
        return f"must have a target among the choices A to {letter_of(count - 1)}"
    return None


def texts_of(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]


def targets_error(value: Any) -> str | None:
    texts = value if isinstance(value, list) else [value]
    return None if texts and all(isinstance(text, str) for text in texts) else "must be a text or a list of texts"


def json_targets_error(value: Any) -> str | None:
    if error := targets_error(value):
        return error
    for text in texts_of(value):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return "must be the JSON of the expected answer as a text, or a list of such texts"
    return None


def number_error(value: Any) -> str | None:
    if isinstance(value, str):
        if len(value) > MAX_NUMBER_LENGTH:
            return f"must have at most {MAX_NUMBER_LENGTH:,} characters"
        return None if len(find_numbers(value)) == 1 else "must have one number"
    return None if is_finite_number(value) else "must be a number, or a text with one"


def match_config_error(config: Mapping[str, Any]) -> str | None:
    if unknown := set(config) - _CONFIG_OF_MATCH:
        return f"has unknown fields: {', '.join(sorted(unknown))}; known are location, ignoreCase and numeric"
    if not all(isinstance(config.get(name, False), bool) for name in ("ignoreCase", "numeric")):
        return "must have true or false as ignoreCase and numeric"
    return _location_error(config)


def number_config_error(config: Mapping[str, Any]) -> str | None:
    if unknown := set(config) - _CONFIG_OF_NUMBER:
        return f"has unknown fields: {', '.join(sorted(unknown))}; known are location and tolerance"
    try:
        tolerance_of(config.get("tolerance"), 0.0)
    except ValueError as error:
        return str(error)
    return _location_error(config)


def tolerance_of(tolerance: Any, expected: float) -> float:
    """Return the allowed difference: a number, or a share of the expected number such as `5%`. Raises ValueError."""
    is_share = isinstance(tolerance, str) and tolerance.endswith("%")
    scale = abs(expected) / 100 if is_share else 1.0
    try:
        allowed = float(tolerance.removesuffix("%") if is_share else 0 if tolerance is None else tolerance)
    except (TypeError, ValueError, OverflowError):
        allowed = -1.0
    if isinstance(tolerance, bool) or not 0 <= allowed < float("inf"):
        raise ValueError('must have a tolerance of at least 0: a number, or a share such as "5%"')
    return allowed * scale


def _location_error(config: Mapping[str, Any]) -> str | None:
    location = config.get("location", "end")
    return None if location in LOCATIONS else f"must have a location: {', '.join(LOCATIONS)}"
