import json
import re

from cupel_core.domain.text.control_characters import escaped_in_json, without_control_characters

_SURROGATES = re.compile(r"[\ud800-\udfff]")
"""Half characters, which no stream can encode."""


def printable(text: str) -> str:
    """Remove control characters, with which a name or an answer would control the terminal."""
    return _SURROGATES.sub("", without_control_characters(text))


def printable_json(value: object, indent: int | None = None, *, ensure_ascii: bool = False) -> str:
    """Return JSON whose texts are unchanged once it is read, but cannot control the terminal either."""
    return escaped_in_json(json.dumps(value, ensure_ascii=ensure_ascii, indent=indent))
