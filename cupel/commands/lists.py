from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cupel.json_types import Json
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.pages import FirstItems, Pages

type Render = Callable[[list[Json]], Table]
type CountAll = Callable[[], int]

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
    total: CountAll | None = None,
) -> None:
    print_items(session, listed.first(limit, where=where), render, as_json=as_json, total=total)


def print_items(
    session: Session, items: "FirstItems", render: Render, *, as_json: bool, total: CountAll | None = None
) -> None:
    if as_json:
        session.print_json(items)
    else:
        session.out.print(render(items))
    remark_on_limit(session, items, total)


def remark_on_limit(session: Session, items: "FirstItems", total: CountAll | None = None) -> None:
    if items.has_more:
        counted = f"{len(items):,} of {total():,}" if total is not None else f"the first {len(items):,}"
        session.remark(f"{counted}; --limit shows more")
