"""Options and arguments that several commands share."""

import sys
from pathlib import Path
from typing import Annotated

import typer

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run, such as run_01jd3v….")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output, nothing else there.")]
Limit = Annotated[int, typer.Option(min=1, help="At most so many.")]
Model = Annotated[str | None, typer.Option(help="Only this model.")]


def own_name() -> str:
    """How this command is called from here: `cupel`, or its path when it lies in a virtual environment below."""
    called = Path(sys.argv[0])
    if called.name == "cupel" and called.resolve().is_relative_to(Path.cwd().resolve()):
        return str(called.resolve().relative_to(Path.cwd().resolve()))
    return "cupel"
