from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cupel.commands.options import AsJson, RunId
from cupel.commands.request_options import with_settings
from cupel.commands.resources import ResourceCommands
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.render_experiment import experiments_table, notes, rows_table
from cupel.resource_names import ResourceNames
from cupel.session import Session
from cupel.source_files import SourceFile
from cupel.target_names import TargetNames
from cupel_core.domain.analysis.experiments import Conclusion

if TYPE_CHECKING:
    from cupel.client import Client

app = typer.Typer(no_args_is_help=True, help="Group runs under a hypothesis, and compare them with a baseline.")

ExperimentId = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="The id of an experiment, such as exp_01jd….")]
OptionalFile = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="YAML or JSON with fields of the API; options take precedence."),
]


RESOURCE = ResourceCommands(
    app, "experiment", lambda client: partial(experiments_table, names=ResourceNames(client)), ExperimentId
)


@app.command()
@with_settings("ExperimentFields")
def create(
    ctx: typer.Context,
    file: OptionalFile = None,
    as_json: AsJson = False,
    *,
    settings: Json,
) -> None:
    """Create an experiment with a name and a hypothesis, from options or from a file."""
    session = ctx.ensure_object(Session)
    with session.connect() as client, _fields(file, settings) as fields:
        _print_experiment(session, client, client.create_experiment(fields), as_json=as_json)


RESOURCE.add_list("List experiments, newest first.")


@app.command()
def show(ctx: typer.Context, experiment: ExperimentId, as_json: AsJson = False) -> None:
    """Show how the runs of an experiment differ from its baseline, and what that suggests."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        summary = client.get_experiment_summary(experiment)
        if as_json:
            session.print_json(summary)
            return
        rows = rows_table(summary, TargetNames(client))
        _print_experiment(session, client, summary["experiment"], as_json=False)
    session.out.print(rows)
    for note in notes(summary):
        session.out.print(note, markup=False, soft_wrap=True)


@app.command()
@with_settings("ExperimentFields")
def update(
    ctx: typer.Context,
    experiment: ExperimentId,
    file: OptionalFile = None,
    as_json: AsJson = False,
    *,
    settings: Json,
) -> None:
    """Change fields of an experiment by options or a file, such as its baseline."""
    session = ctx.ensure_object(Session)
    with session.connect() as client, _fields(file, settings) as fields:
        _print_experiment(session, client, client.update_experiment(experiment, fields), as_json=as_json)


@app.command()
def add(ctx: typer.Context, experiment: ExperimentId, run_id: RunId, as_json: AsJson = False) -> None:
    """Add a run to an experiment."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.add_experiment_run(experiment, run_id)
        _print_experiment(session, client, client.get_experiment(experiment), as_json=as_json)


@app.command()
def remove(ctx: typer.Context, experiment: ExperimentId, run_id: RunId, as_json: AsJson = False) -> None:
    """Remove a run from an experiment; the run stays."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.remove_experiment_run(experiment, run_id)
        _print_experiment(session, client, client.get_experiment(experiment), as_json=as_json)


@app.command()
def conclude(
    ctx: typer.Context,
    experiment: ExperimentId,
    conclusion: Annotated[
        Conclusion, typer.Argument(metavar="CONCLUSION", case_sensitive=False, help="What the runs have shown.")
    ],
    note: Annotated[str | None, typer.Option(help="Why it is concluded so.")] = None,
    as_json: AsJson = False,
) -> None:
    """Conclude an experiment."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        concluded = client.update_experiment(experiment, {"conclusion": conclusion, **without_none(note=note)})
        _print_experiment(session, client, concluded, as_json=as_json)


RESOURCE.add_delete("Delete an experiment; its runs stay.")


@contextmanager
def _fields(file: Path | None, given: Json) -> Iterator[Json]:
    if file is None:
        if not given:
            raise UsageError("name a file or at least one option, such as --baseline RUN")
        yield given
        return
    source = SourceFile.read(file)
    with source.explaining():
        yield {**source.mapping(), **given}


def _print_experiment(session: Session, client: "Client", experiment: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(experiment)
    else:
        session.out.print(experiments_table([experiment], ResourceNames(client)))
