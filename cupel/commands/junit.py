import sys
from pathlib import Path
from typing import Annotated

import typer

from cupel.commands.options import RunId
from cupel.commands.written_files import write_text_file, written_output
from cupel.session import Session


def junit(
    ctx: typer.Context,
    run_id: RunId,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of standard output.")] = None,
) -> None:
    """Write a run as JUnit XML: one suite per model, one case per scenario, persona and repeat."""
    from cupel.junit_report import render_junit

    session = ctx.ensure_object(Session)
    with session.connect() as client:
        text = render_junit(client, client.get_run(run_id))
    if output is None:
        with written_output():
            sys.stdout.write(text)
    else:
        write_text_file(output, text)
        session.remark(f"JUnit XML written to {output}")
