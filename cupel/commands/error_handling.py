"""Turns errors into messages and exit codes: 1 the work failed, 2 usage error."""

from typing import Any

import typer
from typer.core import TyperGroup

from cupel.commands.command_messages import name_commands, name_option
from cupel.commands.options import command_name
from cupel.errors import ApiProblem, CupelError, UsageError
from cupel.session import Session

_COMMANDS_ELSEWHERE = {
    "init": "write a definition file with a `name` and a list of `scenarios`, which may be texts, and run it with "
    "`cupel run FILE`; `cupel import csv TABLE --output FILE` makes one of a table",
    "view": "`cupel open` opens the page, and `cupel show RUN` prints a run",
}
"""It maps commands of promptfoo and Inspect that Cupel does not have to what to use instead."""


class CommandGroup(TyperGroup):
    """For the outermost group: `typer.Typer(cls=CommandGroup)` covers all commands below it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0] if args else ""
        if hint := _COMMANDS_ELSEWHERE.get(name):
            raise UsageError(f"there is no command {name}: {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except CupelError as error:
            _print_error(ctx.ensure_object(Session), error)
            raise typer.Exit(error.exit_code) from error


def _print_error(session: Session, error: CupelError) -> None:
    """Print field errors instead of the detail, which only repeats them."""
    if isinstance(error, ApiProblem) and error.errors:
        session.remark(f"cupel: {error.status} {error.title}")
        named = ((name_option(each.field), name_commands(each.message, command_name())) for each in error.errors)
        for option, message in dict.fromkeys(named):  # Two models of one provider lack the same key.
            session.remark(f"  {option}: {message}")
    else:
        session.remark(f"cupel: {name_commands(str(error), command_name())}")
