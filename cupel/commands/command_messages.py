"""Writes messages of errors for users of the command, and its exit codes: 1 the work failed, 2 usage error."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from cupel.commands.options import command_name
from cupel.commands.request_options import option_of, options_of
from cupel.errors import ApiProblem, CupelError, UsageError
from cupel.request_fields import words_of
from cupel.session import Session

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
_FIELDS_OF_RUNS = (
    *("maxBudgetUsd", "allowUnpriced", "maxConcurrency", "staggerMs", "profileId", "systemPrompt", "userMessage"),
)
"""Fields of requests for runs only; their options are those of the commands that start runs."""
_OPTIONS = {"budgets.dayUsd": "--day", "budgets.monthUsd": "--month", "budgets.timezone": "--timezone"}
_SCHEDULE = ("--cron", "--rate", "--at")
_IN_RUN = re.compile(r"(?:run|evalRun)\.(?:config\.)?(\w+)")
_CONFIG_FIELD = re.compile(r"(?:run\.)?config\.(\w+)")
_WORDS = "cupel.words"
_UsageError: Any = typer.BadParameter.__mro__[1]
"""Typer does not export it."""
_MISSING = {"stack_name": "It is that of a stack on AWS; `cupel down --discard` deletes a local stack and its data"}
"""Further words about parameters that are required, by their names."""
_COMMANDS_ELSEWHERE = {
    "init": "write a definition file with a `name` and a list of `scenarios`, which may be texts, and run it with "
    "`cupel run FILE`; `cupel import csv TABLE --output FILE` makes one of a table",
    "view": "`cupel open` opens the page, and `cupel show RUN` prints a run",
}
"""Maps commands of promptfoo and Inspect that Cupel does not have to a replacement."""


def name_option(field: str, options: AbstractSet[str] = frozenset()) -> str:
    """Return `--judge-model` for `config.judgeModel`, and the field if none of the command's options sets it."""
    if option := _find_option(field, options):
        return option
    if _MODELS.fullmatch(field):
        return "--models"
    if _PRICES.fullmatch(field):
        return "--price"
    if option := _OPTIONS.get(field):
        return option
    name = _PREFIX.sub("", field)
    if name in _FIELDS_OF_RUNS or _CONFIG_FIELD.fullmatch(field):
        return option_of("CreateRun", name).names
    return field


def _find_option(field: str, options: AbstractSet[str]) -> str | None:
    """Return the option that sets a field, with the refused part of its value: `--param maxOutputTokens`."""
    if field == "expression" and options >= {*_SCHEDULE}:
        return " or ".join(_SCHEDULE)
    own = _PREFIX.sub("", field)
    name, _, rest = own.partition(".")
    in_run = [f"--run-{words_of(name, '-')}"] if _IN_RUN.match(field) else []
    found = next((each for each in (*in_run, *options_of(name)) if each in options), None)
    return f"{found} {rest}" if found and rest and not rest.isdecimal() else found


def name_commands(message: str, command: str = "cupel") -> str:
    """Replace requests by commands: `PUT /v1/providers/openai sets it` becomes `cupel providers set openai sets it`."""
    for pattern, replacement in _COMMANDS:
        message = pattern.sub(replacement.replace("{command}", command), message)
    return message


class CommandGroup(TyperGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0] if args else ""
        if hint := _COMMANDS_ELSEWHERE.get(name):
            raise UsageError(f"there is no command {name}: {hint}")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            _reword(error)
            raise
        except CupelError as error:
            _print_error(ctx.ensure_object(Session), error, self._options_of(ctx.meta[_WORDS]))
            raise typer.Exit(error.exit_code) from error

    def _options_of(self, words: Sequence[str]) -> frozenset[str]:
        command: Any = self
        for word in words:
            if not isinstance(command, TyperGroup) or word not in command.commands:
                break
            command = command.commands[word]
        return frozenset(name for each in command.params if isinstance(each, TyperOption) for name in each.opts)


def _reword(error: Any) -> None:
    """Reword an error of Typer, or add what to do instead. `error` is one of its usage errors."""
    if hint := _argument_hint(error):
        error.message, error.possibilities = f"{error.message}. {hint}", None
    elif isinstance(error, typer.BadParameter):
        missing = error.param.name if error.param and not error.message else None
        error.message = _MISSING.get(missing, "") if missing else _reworded(error)


def _argument_hint(error: Any) -> str:
    """Return how to give the argument whose name was used for an option, such as `--definition`."""
    name = getattr(error, "option_name", "").removeprefix("--").replace("-", "_")
    given = [each for each in error.ctx.command.params if isinstance(each, TyperArgument)] if error.ctx and name else []
    found = next((each for each in given if name in (each.name, (each.metavar or "").lower())), None)
    return f"Give it without a name: {error.ctx.command_path} {found.metavar or found.name}" if found else ""


def _reworded(error: typer.BadParameter) -> str:
    """Return the message of a value that Typer refused in our words. Typer has pydantic check most values."""
    from pydantic import ValidationError  # Only these messages need it.

    from cupel_core.domain.text.validation_messages import error_message, field_message

    if isinstance(error.__cause__, ValidationError):
        return "; ".join(dict.fromkeys(map(error_message, error.__cause__.errors(include_url=False))))
    return field_message(error.message)


def _print_error(session: Session, error: CupelError, options: AbstractSet[str]) -> None:
    if isinstance(error, ApiProblem) and error.errors:
        session.remark(f"cupel: {error.status} {error.title}")
        named = (
            (name_option(each.field, options), name_commands(each.message, command_name())) for each in error.errors
        )
        for option, message in dict.fromkeys(named):  # Two models of one provider may lack the same key.
            session.remark(f"  {option}: {message}")
    else:
        session.remark(f"cupel: {name_commands(str(error), command_name())}")
