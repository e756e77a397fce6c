from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, urlencode

import typer

from cupel.commands.options import AsJson
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.client import Client

RunId = Annotated[
    str | None, typer.Argument(metavar="RUN", help="Open this run; default: the list of runs.", show_default=False)
]
PrintOnly = Annotated[
    bool, typer.Option("--print", help="Print the address instead of opening it: valid for a minute, once.")
]


def open_page(ctx: typer.Context, run: RunId = None, print_only: PrintOnly = False, as_json: AsJson = False) -> None:
    """Open the web page in a browser, signed in with a code that works once.

    The page can do what the command's token permits, for 12 hours at most.
    """
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        open_signed_in(session, client, run_path(run) if run else "/runs", print_only=print_only, as_json=as_json)


def run_path(run: str) -> str:
    return f"/runs/{quote(run, safe='')}"


def open_signed_in(session: Session, client: "Client", path: str, *, print_only: bool, as_json: bool) -> None:
    """Open this address of the page with a code that signs in, or print it."""
    created = client.create_login_code()
    page = f"{client.api_url}/"
    address = f"{page}#{urlencode({'code': created['code'], 'to': path}, quote_via=quote)}"
    if as_json:
        session.print_json({"address": address, "expiresAt": created["expiresAt"]})
    elif print_only or not session.open_browser(address):
        session.remark("open this address within a minute; it works once")
        session.out.print(address, markup=False, soft_wrap=True)
    else:
        session.remark(f"opened {page} in your browser, signed in")
