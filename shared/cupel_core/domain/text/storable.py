"""Strings from outside, as every store and reader on the way can represent them."""

_CUT = "…"


def storable(text: str, max_length: int | None = None) -> str:
    """The text without unpaired surrogates, which UTF-8 cannot encode, cut to `max_length` characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode(errors="replace").decode()
    if max_length is None or len(text) <= max_length:
        return text
    return text[: max_length - len(_CUT)] + _CUT
