"""`cupel labels` and `cupel judges`: verdicts of people on transcripts, and how far a judge agrees with them."""

import csv
import io
from collections.abc import Iterator
from itertools import batched
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson, RunId
from cupel.errors import ApiProblem, UsageError
from cupel.json_types import Json, without_none
from cupel.markup import escape
from cupel.render_calibration import calibration_lines
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import NO_VALUE

app = typer.Typer(help="Draw transcripts for labelling, and list, import and remove labels.")
judges = typer.Typer(help="Measure judges on the labels of people.")

_LABELS_PER_REQUEST = 2_500
_MAX_FILE_BYTES = 100_000_000
_COLUMNS = {
    "probe": "probeId",
    "scenario": "scenario",
    "model": "model",
    "prompt": "promptId",
    "persona": "personaId",
    "repeat": "repeat",
    "criterion": "criterion",
    "label": "value",
    "labeller": "labeller",
    "note": "note",
    "verdict_visible": "verdictVisible",
}
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
Criterion = Annotated[
    str, typer.Option(help="The name of a check, `result` for the whole result, or `decision` for codes.")
]


@app.command()
def sample(
    ctx: typer.Context,
    run_id: RunId,
    criterion: Criterion = "result",
    count: Annotated[int, typer.Option(min=1, max=2_000, help="Transcripts to draw.")] = 60,
    model: Annotated[str | None, typer.Option(help="Draw only from this target or model.")] = None,
    prompt: Annotated[str | None, typer.Option(help="Draw only from this prompt of the definition.")] = None,
    rescore: Annotated[str | None, typer.Option(help="Draw by the verdicts of this rescore.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Draw the same transcripts again.")] = None,
    instructions: Annotated[str | None, typer.Option(help="Tell labellers when a transcript passes.")] = None,
    adjudicator: Annotated[
        str | None, typer.Option(help="The labeller whose labels count where several have labelled.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw transcripts for labelling: one of each scenario, and more where the judge says fail."""
    session = ctx.ensure_object(Session)
    body = without_none(
        criterion=criterion,
        count=count,
        model=model,
        promptId=prompt,
        rescoreId=rescore,
        seed=seed,
        instructions=instructions,
        adjudicator=adjudicator,
    )
    with session.connect() as client:
        made = client.create_label_set(run_id, body)
    if as_json:
        session.print_json(made)
    else:
        session.out.print(_sets_table([made]))


@app.command()
def sets(ctx: typer.Context, run_id: RunId, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
    """List the label sets of a run with their progress."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        print_list(session, client.list_label_sets(run_id), limit, _sets_table, as_json=as_json)


@app.command("delete-set")
def delete_set(
    ctx: typer.Context,
    run_id: RunId,
    label_set: Annotated[str, typer.Argument(metavar="ID", help="The id of a label set.")],
) -> None:
    """Delete a label set. Its labels stay."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.delete_label_set(run_id, label_set)
    session.out.print(f"deleted {label_set}", markup=False)


@app.command("list")
def list_labels(
    ctx: typer.Context,
    run_id: RunId,
    criterion: Annotated[str | None, typer.Option(help="List only labels of this criterion.")] = None,
    labeller: Annotated[str | None, typer.Option(help="List only labels of this person.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List the labels of a run."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        listed = client.list_labels(run_id, criterion=criterion, labeller=labeller)
        print_list(session, listed, limit, _labels_table, as_json=as_json)


@app.command("set")
def set_label(
    ctx: typer.Context,
    probe_id: Annotated[str, typer.Argument(metavar="PROBE", help="The id of a probe, such as run_01jd3v…-7.")],
    value: Annotated[str, typer.Argument(metavar="LABEL", help="pass, fail or skip; for decisions a code 1 to 5.")],
    criterion: Criterion = "result",
    labeller: Annotated[str | None, typer.Option(help="Who says so; by default the owner of the token.")] = None,
    note: Annotated[str | None, typer.Option(help="A remark.")] = None,
    label_set: Annotated[
        str | None, typer.Option(help="The label set that has the transcript; labellers must name one.")
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind/--seen", help="Whether the judge's verdict was hidden from the labeller.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Label one transcript."""
    session = ctx.ensure_object(Session)
    body = without_none(
        criterion=criterion,
        value=value,
        labeller=labeller,
        note=note,
        labelSetId=label_set,
        verdictVisible=not blind,
    )
    with session.connect() as client:
        saved = client.save_label(probe_id, body)
    if as_json:
        session.print_json(saved)
    else:
        session.out.print(f"{probe_id}: {saved['value']} by {saved['labeller']}", markup=False)


@app.command()
def remove(
    ctx: typer.Context,
    probe_id: Annotated[str, typer.Argument(metavar="PROBE", help="The id of a probe, such as run_01jd3v…-7.")],
    criterion: Criterion = "result",
    labeller: Annotated[str | None, typer.Option(help="Who gave it; by default the owner of the token.")] = None,
) -> None:
    """Remove a label."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.delete_label(probe_id, criterion=criterion, labeller=labeller)
    session.out.print(f"removed the label of {probe_id}", markup=False)


@app.command("import")
def import_labels(
    ctx: typer.Context,
    run_id: RunId,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file with a heading and a row for each label.")],
    criterion: Criterion = "result",
    as_json: AsJson = False,
) -> None:
    """Import labels from a CSV file. Importing it again changes nothing.

    The column `label` is required, and so is `probe` or `scenario`. Other columns are model, prompt, persona, repeat,
    criterion, labeller, note and verdict_visible.
    """
    session = ctx.ensure_object(Session)
    labels, counts = list(_rows(file)), dict.fromkeys(("created", "changed", "unchanged"), 0)
    with session.connect() as client:
        for number, part in enumerate(batched(labels, _LABELS_PER_REQUEST)):
            try:
                imported = client.add_labels(run_id, {"criterion": criterion, "labels": list(part)})
            except ApiProblem as problem:
                raise UsageError(_named_rows(file, problem, number * _LABELS_PER_REQUEST)) from problem
            counts = {name: counts[name] + imported[name] for name in counts}
    if as_json:
        session.print_json(counts)
    else:
        session.out.print(", ".join(f"{number:,} {name}" for name, number in counts.items()), markup=False)


@judges.command("show")
def show_judge(
    ctx: typer.Context,
    run_id: RunId,
    criterion: Criterion = "result",
    rescore: Annotated[str | None, typer.Option(help="Measure the judge of this rescore.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how far a run's judge agrees with the labels, and the pass rates corrected for its errors."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        found = client.get_calibration(run_id, criterion=criterion, rescore_id=rescore)
    if as_json:
        session.print_json(found)
        return
    for line in calibration_lines(found):
        session.out.print(line, markup=False, soft_wrap=True)


def _rows(file: Path) -> Iterator[Json]:
    rows = csv.DictReader(io.StringIO(_text(file)), strict=True)
    try:
        headings = [heading.strip() for heading in rows.fieldnames or ()]
        _check_headings(file, headings)
        for cells in rows:
            named = zip(headings, cells.values(), strict=False)
            given = {_COLUMNS[heading]: cell.strip() for heading, cell in named if cell and cell.strip()}
            yield _label(f"{file} line {rows.line_num}", given)
    except csv.Error as error:
        raise UsageError(f"{file} is not a CSV file: {error}") from error


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > _MAX_FILE_BYTES:
            raise UsageError(f"{file} has more than {_MAX_FILE_BYTES // 1_000_000} MB")
        return file.read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text: save it with this encoding") from error


def _check_headings(file: Path, headings: list[str]) -> None:
    unknown = [heading for heading in headings if heading not in _COLUMNS]
    if unknown or "label" not in headings or not {"probe", "scenario"} & set(headings):
        found = ", ".join(headings) or "none"
        raise UsageError(
            f"{file}: the heading must have label and probe, or label and scenario, and no other columns than "
            f"{', '.join(_COLUMNS)}: found {found}"
        )


def _label(place: str, given: dict[str, str]) -> Json:
    label: Json = dict(given)
    if "repeat" in given:
        if not (given["repeat"].isascii() and given["repeat"].isdigit()):
            raise UsageError(f"{place}: repeat must be a number from 0: found {given['repeat']}")
        label["repeat"] = int(given["repeat"])
    if "verdictVisible" in given:
        if given["verdictVisible"].lower() not in _FLAGS:
            raise UsageError(f"{place}: verdict_visible must be true or false: found {given['verdictVisible']}")
        label["verdictVisible"] = _FLAGS[given["verdictVisible"].lower()]
    return label


def _named_rows(file: Path, problem: ApiProblem, first: int) -> str:
    """Return the errors with the rows of the file that they are about, counted from 1."""
    headings = {field: column for column, field in _COLUMNS.items()}
    lines = []
    for error in problem.errors:
        parts = error.field.split(".")
        if len(parts) > 1 and parts[0] == "labels" and parts[1].isdigit():
            name = headings.get(parts[2], parts[2]) if len(parts) > 2 else "row"
            lines.append(f"row {first + int(parts[1]) + 1}: {name}: {error.message}")
        else:
            lines.append(f"{error.field}: {error.message}")
    return f"{file}: " + "; ".join(lines or [str(problem)])


def _sets_table(listed: list[Json]) -> Table:
    rows = table("label set", "criterion", "transcripts", "twice", "labelled", "skipped", right=["transcripts"])
    for each in listed:
        progress = each["progress"]
        numbers = (each["count"], each["toLabelTwice"], progress["labelled"], progress["skipped"])
        rows.add_row(escape(each["id"]), escape(each["criterion"]), *map(str, numbers))
    return rows


def _labels_table(listed: list[Json]) -> Table:
    rows = table("probe", "criterion", "label", "labeller", "blind", "note", texts=["note"])
    for each in listed:
        cells = [each["probeId"], each["criterion"], each["value"], each["labeller"]]
        rows.add_row(*map(escape, (*cells, each["blindValue"] or NO_VALUE, each["note"] or "")))
    return rows
