"""Reads numbers in texts: `read_numeral` reads one word as Inspect does, and `find_numbers` all numbers of an
answer."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from math import isfinite

_MINUS = "-\u2212\ufe63\uff0d"
_PLUS = "+\uff0b\ufe62"
_GROUPING = ",\uff0c\ufe50\u3001\u066c \u00a0\u202f\u2009\u2007\u2008'\u2019\u02bc\uff07"
_DECIMAL_MARKS = "\u066b\uff0e"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_EXPONENT = re.compile(r"(?P<base>.*\S)\s*?(?P<exponent>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)", re.DOTALL)
_CHINESE_DIGITS = {
    character: value
    for value, characters in enumerate(
        ("零〇○", "一壹幺", "二贰貳两兩", "三叁參", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
    )
    for character in characters
}
_CHINESE_TENS = {"廿": 20, "卅": 30, "卌": 40}
_CHINESE_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_CHINESE_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_CHINESE_SIGNS = {"负": -1, "負": -1, "正": 1}
_CHINESE = (
    frozenset("点點") | _CHINESE_DIGITS.keys() | _CHINESE_TENS.keys() | _CHINESE_UNITS.keys() | _CHINESE_GROUPS.keys()
)


def read_numeral(word: str) -> float | None:
    """Return the value of a text that is nothing but a number, as Inspect reads it. It may have digits of any script,
    vulgar fractions, superscripts as exponents, Chinese numerals, and separators."""
    for read in (float, _read_unicode):
        try:
            number = read(word)
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
        if isinstance(number, float) and isfinite(number):
            return number
    return None


def _read_unicode(word: str) -> float:
    sign, text = _without_signs(word.strip())
    if len(text) == 1:
        try:
            return sign * unicodedata.numeric(text)
        except ValueError:
            pass
    exponent = _EXPONENT.fullmatch(text.rstrip(_GROUPING))
    if exponent is None:
        return sign * _with_fraction(text)
    base = sign * _with_fraction(exponent["base"].strip())
    return float(base ** int(exponent["exponent"].translate(_SUPERSCRIPTS)))


def _without_signs(text: str) -> tuple[int, str]:
    sign = 1
    while text and (text[0] in _MINUS + _PLUS or text[0] in _CHINESE_SIGNS):
        sign *= -1 if text[0] in _MINUS or _CHINESE_SIGNS.get(text[0]) == -1 else 1
        text = text[1:].lstrip()
    return sign, text


def _with_fraction(text: str) -> float:
    """Return the base, with at most one vulgar fraction at its end."""
    fractions = [position for position, character in enumerate(text) if 0 < unicodedata.numeric(character, 0) < 1]
    if not fractions:
        return _whole(text)
    head, tail = text[: fractions[0]].strip(), text[fractions[0] + 1 :]
    if len(fractions) > 1 or tail.strip(_GROUPING + " \t\n"):
        raise ValueError(text)
    return (_whole(head) if head else 0.0) + unicodedata.numeric(text[fractions[0]])


def _whole(text: str) -> float:
    if any(character in _CHINESE for character in text):
        return _read_chinese(text)
    dot, comma = text.rfind("."), text.rfind(",")
    decimal = "." if dot > comma else "," if dot >= 0 or (comma >= 0 and _digit_count(text[comma + 1 :]) <= 3) else ""
    written = ""
    for character in text:
        if character in _DECIMAL_MARKS or character == decimal:
            written += "."
        elif character in "eE" or (written[-1:] in ("e", "E") and character in _MINUS + _PLUS):
            written += "-" if character in _MINUS else "+" if character in _PLUS else character
        elif character not in _GROUPING and character not in ".," and not character.isspace():
            written += str(unicodedata.digit(character))
    if not any(character.isdigit() for character in written):
        raise ValueError(text)
    return float(written)


def _digit_count(text: str) -> int:
    """Return how many digits a text has; a large number if none, since a comma before nothing is no decimal mark."""
    return sum(character.isdigit() for character in text) or 10


def _read_chinese(text: str) -> float:
    whole, _, fraction = re.sub("[点點．.]", ".", text, count=1).partition(".")
    digits = [_chinese_digit(character) for character in fraction if not character.isspace()]
    return float(_chinese_integer(whole)) + sum(digit / 10.0 ** (place + 1) for place, digit in enumerate(digits))


def _chinese_digit(character: str) -> int:
    return _CHINESE_DIGITS[character] if character in _CHINESE_DIGITS else unicodedata.digit(character)


def _chinese_integer(text: str) -> int:
    if not any(each in units for each in text for units in (_CHINESE_TENS, _CHINESE_UNITS, _CHINESE_GROUPS)):
        return int("".join(str(_chinese_digit(each)) for each in text if not each.isspace()) or "0")
    total = section = number = 0
    for character in filter(lambda each: not each.isspace(), text):
        if character in _CHINESE_TENS:
            section += _CHINESE_TENS[character]
        elif character in _CHINESE_UNITS:
            section, number = section + (number or 1) * _CHINESE_UNITS[character], 0
        elif character in _CHINESE_GROUPS:
            total, section, number = total + (section + number) * _CHINESE_GROUPS[character], 0, 0
        elif digit := _chinese_digit(character):
            number = digit
    return total + section + number


_SIMPLIFIED: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\[,;:! ]|\\thinspace"), "\u2009"),
    (re.compile(r"\\(?:times|cdot)\b"), "×"),
    (re.compile(r"\\([$%€£])"), r"\1"),
    (re.compile(r"\b(?:USD|EUR|GBP|JPY|CHF|CNY|INR)(?=[-\u2212]?\d)"), "$"),
    (
        re.compile(r"(?<=\d)\s?[×x*·]\s?10\s?(?:\^\s?[({]?\s?([-+\u2212]?\d+)\s?[)}]?|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))"),
        lambda match: f"e{(match[1] or match[2].translate(_SUPERSCRIPTS)).replace('\u2212', '-')}",
    ),
    (re.compile(r"(?<![\w.×])10\^[({]?([-+]?\d+)[)}]?"), r"1e\1"),
)
"""LaTeX, codes of currencies and powers of ten are replaced before numbers are read."""
_GROUPED = r"\d{1,3}(?:[,'’_\u00a0\u202f\u2009]\d{3})+(?!\d)|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)"
_NUMBER = re.compile(
    rf"""
    (?<![\w.])(?<![^\W\d_][-\u2010\u2011])
    (?P<sign>(?<![\w)\]%])[-+\u2212\u2013])?(?:[$€£¥₹₩]\s?)?(?P<late_sign>[-\u2212])?
    (?:
      (?P<continental>\d{{1,3}}(?:\.\d{{3}})+,\d+|\d{{1,3}}(?:\.\d{{3}}){{2,}}(?!\d))
      | (?P<whole>{_GROUPED}|\d+)(?:(?:\.|,(?!\d{{3}}(?!\d)))(?P<decimals>\d+))?
      | \.(?P<only_decimals>\d+)
    )?
    (?:[eE](?P<exponent>[-+]?\d{{1,4}})(?![\w.]))?
    (?P<fraction>[¼-¾⅐-⅞])?
    (?:\s?(?P<scale>thousand|million|billion|trillion)\b)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DOTTED = re.compile(r"(?<!\d)\d++(?:\.\d++){2,}+")
"""Digits with several points are a version, an address, or thousands. The pattern does not backtrack, which would take
as many steps as the square of the digits, and would cut off the end of `1.234.567,89`."""
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}


def find_numbers(text: str) -> list[float]:
    """Return all numbers of a text in order, without currencies, percent signs and units.

    A comma or point before exactly three digits groups them, except for a single point; otherwise it is the decimal
    mark. Digits that are part of a word, a version or a date after letters (`GPT-4`, `1.2.3`) are no numbers.
    """
    for pattern, replacement in _SIMPLIFIED:
        text = pattern.sub(replacement, text)
    digits = "".join(str(unicodedata.decimal(each, each)) for each in text)
    return list(_numbers(_DOTTED.sub(_version, digits)))


def _version(match: re.Match[str]) -> str:
    """Return `1.000.000` as a number, but not `1.2.3`."""
    return match[0] if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", match[0]) else "v"


def _numbers(text: str) -> Iterator[float]:
    for match in _NUMBER.finditer(text):
        if not (match["continental"] or match["whole"] or match["only_decimals"] or match["fraction"]):
            continue
        number = _magnitude(match)
        if isfinite(number):
            sign = match["sign"] or match["late_sign"] or "+"
            yield number if sign == "+" else -number


def _magnitude(match: re.Match[str]) -> float:
    if match["continental"]:
        written = match["continental"].replace(".", "").replace(",", ".")
    else:
        whole = re.sub(r"\D", "", match["whole"] or "0")
        written = f"{whole}.{match['decimals'] or match['only_decimals'] or '0'}"
    number = float(f"{written}e{match['exponent'] or 0}")
    if match["fraction"]:
        number += unicodedata.numeric(match["fraction"])
    return number * _SCALES.get((match["scale"] or "").lower(), 1)
