import re

_SPECIAL = re.compile(r"(?<!\\)(\\*)(\[|$)")
_EMPTY_TAG = "[none][/none]"


def escape(text: str) -> str:
    """Return markup that shows the text, whatever markup or escaped text comes before and after it.

    `rich.markup.escape` leaves `[/a` as it is, which becomes a tag as soon as a `]` follows in another text, and shows
    a backslash at the end twice.
    """
    return _SPECIAL.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    """Put a tag after backslashes: before a tag, two backslashes are shown as one; elsewhere each is shown."""
    backslashes, bracket = match.groups()
    return f"{backslashes * 2}{_EMPTY_TAG if backslashes else ''}{bracket and r'\['}"
