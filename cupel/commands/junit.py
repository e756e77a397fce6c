"""`cupel junit`: a run as test results that pipelines show."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from cupel.commands.gate_options import write
from cupel.commands.options import RunId
from cupel.session import Session


def junit(
    ctx: typer.Context,
    run_id: RunId,
    output: Annotated[Path | None, typer.Option(help="Write to this file, not to standard output.")] = None,
) -> None:
    """Write a run as JUnit XML: a suite per model, a case per scenario, persona and repeat."""
    from cupel.junit_report import junit_of

    session = ctx.ensure_object(Session)
    with session.connect() as client:
        text = junit_of(client, client.run(run_id))
    if output is None:
        sys.stdout.write(text)
    else:
        write(output, text)
        session.remark(f"JUnit XML in {output}")
