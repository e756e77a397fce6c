"""The API's messages as users of the command read them: they name commands, not HTTP requests."""

import re

_COMMANDS = (
    (re.compile(r"PUT /v1/providers/([\w-]+)"), r"{command} providers set \1"),
    (re.compile(r"PUT /v1/webhook\b"), "{command} webhook set"),
    (re.compile(r"PUT /v1/settings\b"), "{command} settings"),
)


def name_commands(message: str, command: str = "cupel") -> str:
    """`PUT /v1/providers/openai sets it` is `cupel providers set openai sets it`."""
    for pattern, replacement in _COMMANDS:
        message = pattern.sub(replacement.replace("{command}", command), message)
    return message
