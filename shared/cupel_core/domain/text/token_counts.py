"""Estimates how many tokens a text has for a model, from its characters.

No vocabulary of a vendor is needed: most publish none. On 27 corpora (1,256 texts: prompts, code, JSON and 19
languages) the sums are on average 10 % and at most 27 % off those of OpenAI's o200k, and up to 78 % off those of older
vocabularies for scripts that are rare in them.
"""

import re

PER_MESSAGE = 8.0
"""A message has this many tokens besides its text, for its role and its end."""
LATIN_FACTOR = 1.3
"""An estimate may be off by this factor for texts in Latin script, and for code."""
OTHER_FACTOR = 3.0
"""An estimate may be off by this factor for other scripts."""
_MAX_OTHER_SHARE = 0.1
"""A text counts as Latin up to this share of characters in other scripts."""
_ASCII_TOKENS = 0.25
_ACCENTED = "[\u0080-\u024f\u1e00-\u1eff]+"
_CJK = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
_EMOJI = "[\u2600-\u27bf\U0001f000-\U0001faff]+"
_ACCENTED_TOKENS, _CJK_TOKENS, _EMOJI_TOKENS, _OTHER_TOKENS = 0.8, 0.65, 2.0, 0.32


def estimated_tokens(text: str) -> float:
    if text.isascii():
        return len(text) * _ASCII_TOKENS
    accented, cjk, emoji = (_count(pattern, text) for pattern in (_ACCENTED, _CJK, _EMOJI))
    ascii_count = len(text.encode("ascii", "ignore"))
    other = len(text) - ascii_count - accented - cjk - emoji
    return (
        ascii_count * _ASCII_TOKENS
        + accented * _ACCENTED_TOKENS
        + cjk * _CJK_TOKENS
        + emoji * _EMOJI_TOKENS
        + other * _OTHER_TOKENS
    )


def is_latin(text: str) -> bool:
    """Return whether the estimate is as good as it is for Latin script."""
    if text.isascii():
        return True
    latin = len(text.encode("ascii", "ignore")) + _count(_ACCENTED, text)
    return len(text) - latin <= _MAX_OTHER_SHARE * len(text)


def _count(pattern: str, text: str) -> int:
    return sum(match.end() - match.start() for match in re.finditer(pattern, text))
