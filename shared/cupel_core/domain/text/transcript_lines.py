import re
from collections.abc import Iterable

_LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""`str.splitlines` ends a line at each of these, so a reader may do so, too."""


def transcript_lines(said: Iterable[tuple[str, str]]) -> str:
    """Return `role: text` of each message; every further line of a text is indented by two spaces."""
    return "\n".join(f"{role}: {_LINE_BREAK.sub('\n  ', text)}" for role, text in said)
