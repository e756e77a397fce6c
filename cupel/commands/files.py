from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cupel.commands.options import AsJson
from cupel.commands.resources import ResourceCommands
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.local_files import LocalFile, UnreadableFile, read_file
from cupel.markup import escape
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import NO_VALUE

app = typer.Typer(help="Upload, list, show and delete images and PDFs for messages.", invoke_without_command=True)
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="PNG, JPEG, WebP, GIF or PDF.")]
FileId = Annotated[str, typer.Argument(metavar="ID", help="The id, as in the list.")]


RESOURCE = ResourceCommands(app, "file", lambda _: _table, FileId)
RESOURCE.list_by_default()


@app.command()
def upload(ctx: typer.Context, paths: Paths, as_json: AsJson = False) -> None:
    """Upload files. The same content is stored once and has the same id."""
    session = ctx.ensure_object(Session)
    contents = [_read(path) for path in paths]
    with session.connect() as client:
        uploaded = [client.upload_file(each.content, each.name, each.info.format.media_type) for each in contents]
    if as_json:
        session.print_json(uploaded)
    else:
        for each in uploaded:
            session.out.print(f"{each['id']}  {each['name']}  {_size(each)}", markup=False, soft_wrap=True)


RESOURCE.add_show("Show a file as JSON, with an address from which its content can be loaded for five minutes.")
RESOURCE.add_delete("Delete a file. Probes that need it later end with an error.")


def _read(path: Path) -> LocalFile:
    try:
        return read_file(path)
    except UnreadableFile as error:
        raise UsageError(f"{path} {error}") from error


def _table(listed: list[Json]) -> Table:
    columns = table("file", "name", "type", "pixels", "bytes", texts=["name"])
    for each in listed:
        columns.add_row(*map(escape, (each["id"], each["name"], each["type"], _pixels(each), f"{each['size']:,}")))
    return columns


def _pixels(file: Json) -> str:
    return f"{file['width']}×{file['height']}" if file["width"] else NO_VALUE


def _size(file: Json) -> str:
    size = f"{file['size']:,} bytes"
    return f"{_pixels(file)}, {size}" if file["width"] else size
