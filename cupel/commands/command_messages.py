"""The API's messages for users of the command: they name commands and options, not HTTP requests and fields."""

import re

_COMMANDS = (
    (re.compile(r"PUT /v1/providers/([\w-]+)"), r"{command} providers set \1"),
    (re.compile(r"POST /v1/runs/([\w-]+)/analysis"), r"{command} analyze \1"),
    (re.compile(r"POST /v1/runs/([\w-]+)/reports"), r"{command} report \1"),
    (re.compile(r"POST /v1/files\b"), "{command} files upload"),
    (re.compile(r"PUT /v1/webhook\b"), "{command} webhook set"),
    (re.compile(r"PUT /v1/settings\b"), "{command} settings"),
    (re.compile(r"POST /v1/queue/resume\b"), "{command} queue resume"),
)

_MODELS = re.compile(r"(?:run\.)?models(?:\.\d+)?")
_PREFIX = re.compile(r"^(?:run\.)?(?:config\.)?")
_PRICES = re.compile(r"prices\.\d+(?:\.\w+)?")
_OPTIONS = {
    "maxBudgetUsd": "--budget",
    "allowUnpriced": "--allow-unpriced",
    "maxConcurrency": "--concurrency",
    "staggerMs": "--stagger",
    "profileId": "--profile",
    "systemPrompt": "--system-file",
    "userMessage": "--message",
    "budgets.dayUsd": "--day",
    "budgets.monthUsd": "--month",
    "budgets.timezone": "--timezone",
}
"""Options that are not named like their fields."""
_CONFIG_FIELD = re.compile(r"(?:run\.)?config\.(\w+)")
_CAPITAL = re.compile("[A-Z]")


def name_option(field: str) -> str:
    """`config.judgeModel` is `--judge-model`; fields that no option sets keep their names."""
    if _MODELS.fullmatch(field):
        return "--models"
    if _PRICES.fullmatch(field):
        return "--price"
    if option := _OPTIONS.get(_PREFIX.sub("", field)):
        return option
    if match := _CONFIG_FIELD.fullmatch(field):
        return "--" + _CAPITAL.sub(lambda capital: f"-{capital[0].lower()}", match[1])
    return field


def name_commands(message: str, command: str = "cupel") -> str:
    """`PUT /v1/providers/openai sets it` is `cupel providers set openai sets it`."""
    for pattern, replacement in _COMMANDS:
        message = pattern.sub(replacement.replace("{command}", command), message)
    return message
