"""What all lists have in common: the option that limits them, and how they are printed; and the deletion of several."""

from collections.abc import Callable, Iterable
from itertools import batched, islice
from typing import Annotated

import typer
from rich.table import Table

from cupel.json_types import Json
from cupel.session import Session

DEFAULT_LIMIT = 20
_MAX_DELETED = 100
"""Per request."""
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


def delete_each(session: Session, ids: list[str], delete: Callable[[list[str]], list[Json]], *, as_json: bool) -> None:
    """Delete all, print what came of each, and exit with 1 if one is left."""
    results = [result for batch in batched(ids, _MAX_DELETED) for result in delete(list(batch))]
    if as_json:
        session.print_json(results)
    for result in results:
        if not result["deleted"]:
            problem = result["problem"]
            session.remark(f"{result['id']}: {problem['status']} {problem['title']}: {problem['detail']}")
        elif not as_json:
            session.out.print(f"deleted {result['id']}", markup=False)
    if not all(result["deleted"] for result in results):
        raise typer.Exit(1)
