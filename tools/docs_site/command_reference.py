"""Writes the page about every command and option from the command itself."""

from typer import Context
from typer.cli import get_docs_for_click
from typer.main import get_command

from cupel.cli import app

TITLE = "Command reference"


def page() -> str:
    command = get_command(app)
    text = get_docs_for_click(obj=command, ctx=Context(command, info_name="cupel"), name="cupel", title=TITLE)
    return str(text)
