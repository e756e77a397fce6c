"""Defines JavaScript's classes of characters as ranges, and writes ranges for Python's `regex`."""

import re
from collections.abc import Iterable, Mapping

from cupel_core.domain.text.javascript_case import Range
from cupel_core.domain.text.javascript_values import WHITE_SPACE

_LAST = 0x10FFFF
_PUNCTUATION = re.compile(r"[^0-9A-Za-z_]")

DIGITS: tuple[Range, ...] = ((0x30, 0x39),)
WORD: tuple[Range, ...] = (*DIGITS, (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACES: tuple[Range, ...] = tuple((ord(character), ord(character)) for character in sorted(WHITE_SPACE))
LINE_ENDS: tuple[Range, ...] = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
WORD_IGNORING_CASE: tuple[Range, ...] = (*WORD, (0x17F, 0x17F), (0x212A, 0x212A))
"""With the flags `i` and `u`, the long s and the Kelvin sign are word characters too, because they equal s and k."""


def complement(ranges: Iterable[Range]) -> tuple[Range, ...]:
    found: list[Range] = []
    start = 0
    for first, last in sorted(ranges):
        if start < first:
            found.append((start, first - 1))
        start = max(start, last + 1)
    return (*found, (start, _LAST)) if start <= _LAST else tuple(found)


def written_set(ranges: Iterable[Range], properties: Iterable[str] = (), *, is_negated: bool = False) -> str:
    """Write a set as an expression. An empty one matches nothing; negated, it matches every character."""
    parts = [_written_range(*each) for each in ranges]
    parts.extend(properties)
    if not parts:
        return "(?s:.)" if is_negated else "(?!)"
    return f"[{'^' if is_negated else ''}{''.join(parts)}]"


def written_character(code: int) -> str:
    """Write one character as an expression, within a set or outside."""
    character = chr(code)
    return _PUNCTUATION.sub(r"\\\g<0>", character) if code < 0x80 else character


def _written_range(first: int, last: int) -> str:
    if first == last:
        return written_character(first)
    return f"{written_character(first)}-{written_character(last)}"


CLASS_ESCAPES: Mapping[str, tuple[Range, ...]] = {
    "d": DIGITS,
    "D": complement(DIGITS),
    "w": WORD,
    "W": complement(WORD),
    "s": SPACES,
    "S": complement(SPACES),
}
UNICODE_WORD_ESCAPES: Mapping[str, tuple[Range, ...]] = {
    "w": WORD_IGNORING_CASE,
    "W": complement(WORD_IGNORING_CASE),
}


_CATEGORIES_TEXT = """
Cased_Letter LC Close_Punctuation Pe Connector_Punctuation Pc Control Cc cntrl Currency_Symbol Sc
Dash_Punctuation Pd Decimal_Number Nd digit Enclosing_Mark Me Final_Punctuation Pf Format Cf
Initial_Punctuation Pi Letter L Letter_Number Nl Line_Separator Zl Lowercase_Letter Ll Mark M Combining_Mark
Math_Symbol Sm Modifier_Letter Lm Modifier_Symbol Sk Nonspacing_Mark Mn Number N Open_Punctuation Ps Other C
Other_Letter Lo Other_Number No Other_Punctuation Po Other_Symbol So Paragraph_Separator Zp Private_Use Co
Punctuation P punct Separator Z Space_Separator Zs Spacing_Mark Mc Surrogate Cs Symbol S Titlecase_Letter Lt
Unassigned Cn Uppercase_Letter Lu
"""
_CATEGORIES = frozenset(_CATEGORIES_TEXT.split())
_BINARY_PROPERTIES_TEXT = """
ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_Mirrored Case_Ignorable Cased
Changes_When_Casefolded Changes_When_Casemapped Changes_When_Lowercased Changes_When_Titlecased
Changes_When_Uppercased Dash Default_Ignorable_Code_Point Deprecated Diacritic Emoji Emoji_Component
Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation Extended_Pictographic Extender Grapheme_Base
Grapheme_Extend Hex_Digit IDS_Binary_Operator IDS_Trinary_Operator ID_Continue ID_Start Ideographic
Join_Control Logical_Order_Exception Lowercase Lower Math Noncharacter_Code_Point Pattern_Syntax
Pattern_White_Space Quotation_Mark Radical Regional_Indicator Sentence_Terminal Soft_Dotted
Terminal_Punctuation Unified_Ideograph Uppercase Upper Variation_Selector White_Space XID_Continue XID_Start
"""
_BINARY_PROPERTIES = frozenset(_BINARY_PROPERTIES_TEXT.split())
_SCRIPT = re.compile(r"(?:sc|scx|Script|Script_Extensions)=[A-Z]\w+")
_CATEGORY = re.compile(r"(?:gc|General_Category)=(\w+)")


def is_property(name: str) -> bool:
    """Return whether `\\p{name}` is a property of characters."""
    category = _CATEGORY.fullmatch(name)
    if category:
        return category[1] in _CATEGORIES
    return name in _CATEGORIES or name in _BINARY_PROPERTIES or bool(_SCRIPT.fullmatch(name))
