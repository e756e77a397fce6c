from typer import Context
from typer.cli import get_docs_for_click
from typer.main import get_command

from cupel.cli import app

TITLE = "Command reference"
INTRODUCTION = """\
- The command talks to the local stack of the current directory, or to the API at `CUPEL_API_URL` with the token in
  `CUPEL_TOKEN`.
- `--json` prints one JSON document on standard output and nothing else there.
- Lists have at most 20 rows, except for models and providers. `--limit` changes that, and standard error says when the
  limit was reached.
"""


def page() -> str:
    command = get_command(app)
    text = get_docs_for_click(obj=command, ctx=Context(command, info_name="cupel"), name="cupel", title=TITLE)
    title, _, commands = str(text).partition("\n")
    return f"{title}\n\n{INTRODUCTION}{commands}"
