"""Turns errors into messages and exit codes: 1 the work failed, 2 usage error."""

from typing import Any

import typer
from typer.core import TyperGroup

from cupel.commands.command_messages import name_commands, name_option
from cupel.commands.options import command_name
from cupel.errors import ApiProblem, CupelError
from cupel.session import Session


class CommandGroup(TyperGroup):
    """For the outermost group: `typer.Typer(cls=CommandGroup)` covers all commands below it."""

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
