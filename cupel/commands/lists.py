"""What all lists have in common: the option that limits them, and how they are printed."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Annotated

import typer
from rich.table import Table

from cupel.json_types import Json
from cupel.session import Session

DEFAULT_LIMIT = 20
Limit = Annotated[int, typer.Option("--limit", min=1, max=1_000_000, help="Maximum number to list.")]


def print_list(
    session: Session, listed: Iterable[Json], limit: int, render: Callable[[list[Json]], Table], *, as_json: bool
) -> None:
    """Print at most `limit` of what is listed, which is read no further."""
    items = list(islice(listed, limit))
    if as_json:
        session.print_json(items)
    else:
        session.out.print(render(items))
    remark_on_limit(session, len(items), limit)


def remark_on_limit(session: Session, count: int, limit: int) -> None:
    """Say that there may be more, if as many were listed as `--limit` allows."""
    if count >= limit:
        session.remark(f"reached --limit {limit:,}; there may be more")
