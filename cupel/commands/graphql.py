import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from cupel.errors import GraphqlError, UsageError
from cupel.json_types import Json
from cupel.session import Session


def graphql(
    ctx: typer.Context,
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="The query or mutation; - reads standard input.")
    ] = None,
    variables: Annotated[
        str | None, typer.Option("--variables", metavar="JSON", help="An object, or a file with one.")
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the schema instead: what can be asked for.")] = False,
) -> None:
    """Send a GraphQL query or mutations, and print the data as JSON."""
    session = ctx.ensure_object(Session)
    if schema == (query is not None):
        raise UsageError("specify either a query or --schema")
    with session.connect() as client:
        if query is None:
            session.out.print(client.get_graphql_schema(), markup=False, soft_wrap=True, end="")
            return
        try:
            data = client.graphql(sys.stdin.read() if query == "-" else query, _variables(variables))
        except GraphqlError as error:
            if error.data is not None:
                session.print_json(error.data)
            raise
        session.print_json(data)


def _variables(text: str | None) -> Json | None:
    if text is None:
        return None
    try:
        found = json.loads(text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--variables: {text}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"--variables: is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"--variables: {text}: expected an object with the values of the query's variables")
    return found
