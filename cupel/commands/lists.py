"""What all lists have in common: the option that limits them, and how they are printed."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cupel.json_types import Json
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.pages import Pages

type Render = Callable[[list[Json]], Table]

DEFAULT_LIMIT = 20
Limit = Annotated[int, typer.Option("--limit", min=1, max=1_000_000, help="Maximum number to list.")]


def print_list(
    session: Session,
    listed: "Pages",
    limit: int,
    render: Render,
    *,
    as_json: bool,
    where: Callable[[Json], bool] | None = None,
) -> None:
    """Print at most `limit` of what is listed, which is read no further."""
    print_items(session, listed.first(limit, where=where), limit, render, as_json=as_json)


def print_items(session: Session, items: list[Json], limit: int, render: Render, *, as_json: bool) -> None:
    """Print what was read of a list, which are at most `limit` items."""
    if as_json:
        session.print_json(items)
    else:
        session.out.print(render(items))
    remark_on_limit(session, len(items), limit)


def remark_on_limit(session: Session, count: int, limit: int) -> None:
    """Say that there may be more, if as many were listed as `--limit` allows."""
    if count >= limit:
        session.remark(f"reached --limit {limit:,}; there may be more")
