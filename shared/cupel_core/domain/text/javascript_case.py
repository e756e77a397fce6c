"""Finds the characters that are equal in JavaScript's regular expressions that ignore case.

Without the `u` flag, characters are compared by their upper case; none beyond ASCII equals an ASCII letter. With it,
they are compared by Unicode's simple case folding. Python's `re` and `regex` do neither.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

_LAST_WITH_CASE = 0x1E943
_LAST_UNIT = 0xFFFF

type Range = tuple[int, int]


def with_other_cases(ranges: Iterable[Range], *, is_unicode: bool) -> list[Range]:
    """Return the ranges, and all characters that are equal to one in them."""
    given = list(ranges)
    if not is_unicode and all(last < 0x80 for _, last in given):
        return [*given, *(other for each in given for other in _other_ascii_cases(each))]
    classes = _classes(is_unicode)
    others = {other for each in given for code in _cased_within(each, classes) for other in classes[code]}
    return [*given, *((code, code) for code in sorted(others))]


def _other_ascii_cases(given: Range) -> Iterator[Range]:
    for low, high, shift in ((0x41, 0x5A, 0x20), (0x61, 0x7A, -0x20)):
        first, last = max(given[0], low), min(given[1], high)
        if first <= last:
            yield first + shift, last + shift


def _cased_within(given: Range, classes: Mapping[int, tuple[int, ...]]) -> Iterator[int]:
    first, last = given
    if last - first < len(classes):
        return (code for code in range(first, last + 1) if code in classes)
    return (code for code in classes if first <= code <= last)


@cache
def _classes(is_unicode: bool) -> Mapping[int, tuple[int, ...]]:
    """Map each character that is equal to others to all of these and itself."""
    same: dict[str, list[int]] = defaultdict(list)
    for code in range((_LAST_WITH_CASE if is_unicode else _LAST_UNIT) + 1):
        character = chr(code)
        same[_folded(character) if is_unicode else _canonical(character)].append(code)
    return {code: tuple(codes) for codes in same.values() if len(codes) > 1 for code in codes}


def _canonical(character: str) -> str:
    upper = character.upper()
    if len(upper) != 1 or (character >= "\x80" and upper < "\x80"):
        return character
    return upper


def _folded(character: str) -> str:
    """Apply Unicode's simple case folding, which never makes two characters of one."""
    return next((each for each in (character.casefold(), character.lower()) if len(each) == 1), character)
