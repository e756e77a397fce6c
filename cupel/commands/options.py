"""Options and arguments that several commands share."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from cupel.json_types import Json

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run, such as run_01jd3v….")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output, nothing else there.")]
Limit = Annotated[int, typer.Option(min=1, help="At most so many.")]
Model = Annotated[str | None, typer.Option(help="Only this model.")]
Watch = Annotated[bool, typer.Option("--watch", help="Show progress, wait for the end and show results.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, max=100, help="Conversations per target and scenario.")]
JudgeModel = Annotated[str | None, typer.Option("--judge-model", help="Judges by criteria and assertions.")]
PersonaModel = Annotated[str | None, typer.Option("--persona-model", help="Plays the user; the judge when not given.")]
EmbeddingModel = Annotated[str | None, typer.Option("--embedding-model", help="For assertions of type similar.")]


def given(**options: object) -> Json:
    """Those that were."""
    return {name: value for name, value in options.items() if value is not None}


def own_name() -> str:
    """How this command is called from here: `cupel`, or its path when it lies in a virtual environment below."""
    called = Path(sys.argv[0])
    if called.name == "cupel" and called.resolve().is_relative_to(Path.cwd().resolve()):
        return str(called.resolve().relative_to(Path.cwd().resolve()))
    return "cupel"
