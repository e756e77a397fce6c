"""The one place where an error becomes a message and an exit code: 1 the work failed, 2 it was asked for wrongly."""

from typing import Any

import typer
from typer.core import TyperGroup

from cupel.errors import ApiProblem, CupelError
from cupel.session import Session


class CommandGroup(TyperGroup):
    """For the outermost group: `typer.Typer(cls=CommandGroup)` covers every command below it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except CupelError as error:
            _tell(ctx.ensure_object(Session), error)
            raise typer.Exit(error.exit_code) from error


def _tell(session: Session, error: CupelError) -> None:
    """The fields say more than the detail, which is made of them."""
    if isinstance(error, ApiProblem) and error.errors:
        session.remark(f"cupel: {error.status} {error.title}")
        for problem in error.errors:
            session.remark(f"  {problem.field}: {problem.message}")
    else:
        session.remark(f"cupel: {error}")
