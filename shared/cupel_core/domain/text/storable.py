"""Strings from outside, as every store and reader on the way can represent them."""

_CUT = "…"
_JOINING = "utf-16-le"
"""Two halves of a character become one when they are decoded."""


def storable(text: str, max_length: int | None = None) -> str:
    """The text without surrogates, which UTF-8 cannot encode, cut to `max_length` characters: pairs are joined, and
    others replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode(_JOINING, "surrogatepass").decode(_JOINING, "surrogatepass")
        text = joined.encode(errors="replace").decode()
    if max_length is None or len(text) <= max_length:
        return text
    return text[: max_length - len(_CUT)] + _CUT
