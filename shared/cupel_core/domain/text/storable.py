"""Makes strings from outside representable for every store and reader on the way."""

_CUT = "…"
_JOINING = "utf-16-le"
"""Decoding joins two halves of a character."""


def storable(text: str, max_length: int | None = None) -> str:
    """Return the text without surrogates, which UTF-8 cannot encode, cut to `max_length` characters. Pairs of
    surrogates are joined, and others replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode(_JOINING, "surrogatepass").decode(_JOINING, "surrogatepass")
        text = joined.encode(errors="replace").decode()
    if max_length is None or len(text) <= max_length:
        return text
    return text[: max_length - len(_CUT)] + _CUT
