"""Rewords problems that the YAML parser finds, for people who write a file by hand: what is wrong, and what to do."""

import re

_KINDS = {
    "? ": "a key ",
    "<block mapping start>": "a key",
    "<block sequence start>": "a list",
    "<block end>": "a line with less indentation",
    "<block entry>": "a list item",
    "<scalar>": "a text",
    "<stream end>": "the end of the file",
    "<document start>": "a line ---",
    "<document end>": "a line ...",
    "<alias>": "a name with *",
    "<anchor>": "a name with &",
    "<tag>": "a word with !",
}
_INDENTATION = "check the indentation of this line and of the lines above it"
_REPLACEMENTS = (
    (
        r"mapping values are not allowed .*",
        "a colon followed by a space is not possible here; put a text that has one in quotes, or correct the "
        "indentation of the line",
    ),
    (r"(block )?sequence entries are not allowed .*", f"a list item is not possible here; {_INDENTATION}"),
    (r"mapping keys are not allowed .*", f"a key is not possible here; {_INDENTATION}"),
    (r"found (a tab character|character '\\t').*", "a line must not be indented with a tab; use spaces"),
    (r"found character '?([^\s']+)'? that cannot .*", r"a text that starts with \1 needs quotes"),
    (r"found character that cannot start any token", "a text that starts with @, ` or %, or with a tab, needs quotes"),
    (
        r"could not find expected ':'",
        "this is neither `key: value` nor a part of the text above it; check its colon and its indentation",
    ),
    (
        r"(expected|did not find expected) (<block end>|'-' indicator|key)(, but found '(.*)')?",
        rf"\4 is not possible here; {_INDENTATION}, or put a text that has quotes or brackets in quotes",
    ),
    (
        r"(expected|did not find expected) ',' or '([\]}])'(, but got '(.*)')?",
        r"\4 stands where `,` or `\2` is needed: separate items by commas, and close every bracket",
    ),
    (
        r"(expected|did not find expected) (the )?node content(, but found '(.*)')?",
        r"\4 stands where a value is needed",
    ),
    (r"found unexpected end of stream", "a quote is opened and not closed before the end of the file"),
    (r"found unexpected document (separator|indicator)", "a quote is opened and not closed before the line ---"),
    (
        r"found unknown escape character(.*)",
        r"a backslash is followed by a character\1 that has no meaning there; put the text in single quotes",
    ),
    (
        r"found undefined alias.*",
        "a name with * refers to a part that has the same name with &, and there is none; a text that starts with * "
        "needs quotes",
    ),
    (
        r"could not determine a constructor for the tag '?([^']*)'?",
        r"\1 is a tag, which is not accepted; a text that starts with ! needs quotes",
    ),
    (r"found unhashable key", "a key must be a text; a text with brackets or braces needs quotes"),
    (r"second occurrence|found duplicate anchor.*", "a name with & is given twice"),
    (
        r"(expected|did not find expected) '?<document start>'?(, but found '(.*)')?",
        "the value above has ended; put a text that starts with a bracket, a brace, a quote or % in quotes",
    ),
    (r"found unknown directive name", "a text that starts with % needs quotes"),
    (
        r"expected a single document in the stream|but found another document",
        "a line --- starts a second document; a file has one",
    ),
)


def yaml_problem(problem: str) -> str:
    """Return the problem in our words, such as `a line must not be indented with a tab; use spaces`."""
    for pattern, replacement in _REPLACEMENTS:
        if match := re.fullmatch(pattern, problem):
            reworded = match.expand(replacement) if match.re.groups else replacement
            return _named(reworded)
    return problem


def _named(text: str) -> str:
    """Replace the parser's names of what it found by words; without a name it is `this`."""
    if text[:1] == " ":
        return f"this{text}"
    found = next((name for name in _KINDS if text.startswith(name)), "")
    return _KINDS.get(found, "") + text[len(found) :]
