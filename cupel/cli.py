"""Defines the `cupel` command. Each module of cupel/commands contains the commands for one subject."""

from typing import Annotated

import typer

from cupel.commands import (
    analyze,
    budgets,
    chat,
    chats,
    compare,
    control,
    definitions,
    delete,
    estimate,
    evals,
    events,
    experiments,
    export,
    files,
    forks,
    graphql,
    imports,
    judges,
    junit,
    labels,
    mcp,
    plan,
    probes,
    profiles,
    providers,
    queue,
    report,
    rescores,
    resources,
    run,
    runs,
    scale,
    scenarios,
    schedules,
    show,
    stack,
    teardown,
    tokens,
    web_page,
    webhook,
    workspaces,
)
from cupel.commands.command_messages import CommandGroup


def print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"cupel {version('cupel')}")
        raise typer.Exit


app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_show_locals=False,  # They could contain a token.
)


@app.callback()
def cupel(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Evaluate language models. Exit codes: 0 success, 1 run or command failed, 2 usage error, 130 interrupted."""


app.command()(stack.up)
app.command()(stack.down)
app.command()(stack.status)
app.command()(stack.env)
app.command()(stack.invoke)
app.command()(stack.sources)
app.command("open")(web_page.open_page)
app.command()(teardown.teardown)
app.command()(run.run)
app.command()(estimate.estimate)
app.command()(scale.scale)
app.command()(report.report)
app.command()(run.rerun)
app.command()(run.watch)
app.add_typer(runs.app, name="runs")
app.command()(show.show)
app.command()(analyze.analyze)
app.command()(show.transcripts)
app.command()(probes.probes)
app.command()(probes.correct)
app.command()(events.events)
app.command()(export.export)
app.command()(junit.junit)
app.command("import")(imports.import_)
app.command()(rescores.rescore)
app.command()(rescores.rescores)
app.command()(rescores.scores)
app.add_typer(labels.app, name="labels")
app.add_typer(judges.app, name="judges")
app.command()(compare.compare)
app.add_typer(compare.app, name="comparisons")
app.command()(compare.jobs)
app.command()(plan.plan)
app.add_typer(experiments.app, name="experiments")
app.command()(control.pause)
app.command()(control.resume)
app.command()(control.cancel)
app.command()(control.retry)
app.command()(control.expand)
app.add_typer(budgets.app, name="budget")
app.command()(delete.delete)
app.command()(providers.models)
app.add_typer(providers.app, name="providers")
app.add_typer(definitions.app, name="definitions")
definitions.app.command()(forks.fork)
definitions.app.command()(forks.ancestors)
definitions.app.command()(forks.descendants)
app.add_typer(scenarios.app, name="scenarios")
app.add_typer(files.app, name="files")
app.add_typer(resources.personas, name="personas")
app.add_typer(resources.connectors, name="connectors")
app.add_typer(resources.evals, name="evals")
app.add_typer(profiles.app, name="profiles")
app.command()(chat.chat)
app.add_typer(chats.app, name="chats")
app.command("try")(evals.try_scenario)
app.command()(evals.settings)
app.command()(graphql.graphql)
app.command()(mcp.mcp)
app.add_typer(queue.app, name="queue")
app.add_typer(schedules.app, name="schedules")
app.add_typer(webhook.app, name="webhook")
app.add_typer(tokens.app, name="tokens")
app.add_typer(workspaces.app, name="workspaces")
app.command()(events.audit)
app.add_typer(delete.app, name="deletions")
