"""Messages of the validation library, worded like our own: they follow the name of the field they are about."""

import re

_REPLACEMENTS = (
    (re.compile(r"^Value error, "), ""),
    (re.compile(r"^Field required$"), "is required"),
    (re.compile(r"^Input should be a valid (dictionary|mapping)( or .*)?$"), "must be an object"),
    (re.compile(r"^Input should be a valid string$"), "must be text"),
    (re.compile(r"^Input should be a valid boolean.*"), "must be true or false"),
    (re.compile(r"^Input should be a valid integer.*"), "must be an integer"),
    (re.compile(r"^Input should be a valid (list|tuple|set)$"), "must be a list"),
    (re.compile(r"^Input should be a valid (\w+)$"), r"must be a \1"),
    (re.compile(r"^Input should be less than or equal to "), "must be at most "),
    (re.compile(r"^Input should be greater than or equal to "), "must be at least "),
    (re.compile(r"^Input should be "), "must be "),
    (re.compile(r"^Unable to extract tag using discriminator '(\w+)'$"), r"must have a \1"),
    (
        re.compile(
            r"^Input tag '(.{1,60}).*?' found using '(\w+)' does not match any of the expected tags: ", re.DOTALL
        ),
        r"has the unknown \2 '\1'; known are ",
    ),
    (re.compile(r"^String should match pattern '(.*)'$"), r"must match \1"),
    (re.compile(r"<\w+\.\w+: ('[^']*')>"), r"\1"),
    (re.compile(r"^\w+ should have (.*?)( after validation, not .*)?$"), r"must have \1"),
)


def field_message(message: str) -> str:
    """`Input should be less than or equal to 2` is `must be at most 2`."""
    for pattern, replacement in _REPLACEMENTS:
        message = pattern.sub(replacement, message)
    return message
