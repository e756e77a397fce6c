import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cupel.commands.confirmation import confirm_deletion
from cupel.commands.options import AsJson
from cupel.errors import CupelError, UsageError
from cupel.extras import require_extra
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.stack.paths import StackPaths

Port = Annotated[
    int | None,
    typer.Option(
        min=1024,
        max=65535,
        help="Port of the embedded cloud; default: 4566 if free, otherwise any free port.",
        show_default=False,
    ),
]


AllowedOrigins = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-origin",
        help="Origin of a web page that may call the API; repeatable, replaces all, remembered.",
        show_default=False,
    ),
]


AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME:PORT",
        help="Further host at which the stack answers, such as that of a forwarded port; repeatable, not remembered.",
        show_default=False,
    ),
]
CallTimeout = Annotated[
    int | None,
    typer.Option(
        metavar="SECONDS",
        help="How long a model call may take, up to 600; default: 120. Remembered.",
        show_default=False,
    ),
]


def up(
    ctx: typer.Context,
    port: Port = None,
    allow_origin: AllowedOrigins = None,
    allow_host: AllowedHosts = None,
    call_timeout: CallTimeout = None,
) -> None:
    """Start the embedded cloud, and deploy the stack to it from the sources."""
    paths = _find_stack("cupel up")
    from cupel.stack import lifecycle
    from cupel.stack.deploy import choose_call_timeout, choose_hosts, choose_origins

    session = ctx.ensure_object(Session)
    if allow_origin:
        choose_origins(paths, allow_origin)
    for host in choose_hosts(paths, allow_host or []):
        session.remark(f"warning: the stack also answers at {host}; all who reach that address can call its API")
    if call_timeout is not None:
        choose_call_timeout(paths, call_timeout)
    local = lifecycle.up(paths, port, session.remark)
    session.remark(f"Cupel is up at {local.api_url} (token in {paths.local_file})")
    session.remark(f"web page: {local.api_url}/ (`cupel open` signs in)")


def down(
    ctx: typer.Context,
    discard: Annotated[bool, typer.Option("--discard", help="Also delete all data: definitions, runs, keys.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete the data without asking.")] = False,
) -> None:
    """Stop the embedded cloud. Its data is kept for the next `cupel up`."""
    paths = _find_stack("cupel down")
    from cupel.stack import lifecycle

    session = ctx.ensure_object(Session)
    if discard:
        confirm_deletion(session, f"all data in {paths.state}: definitions, runs and keys", yes=yes)
    stopped = lifecycle.down(paths, session.remark, discard=discard)
    session.remark("stopped" if stopped else "was not running")


def env(ctx: typer.Context) -> None:
    """Print the variables with which AWS tools call the embedded cloud: eval "$(cupel env)". They change each start."""
    paths = _find_stack("cupel env")
    from cupel.stack import emulator
    from cupel.stack.paths import REGION

    running = emulator.find_running(paths)
    if running is None:
        raise CupelError("no stack is up; start it with `cupel up`")
    ctx.ensure_object(Session).out.print("\n".join(running.access.exports(REGION)), markup=False)


def invoke(
    ctx: typer.Context,
    function: Annotated[str, typer.Argument(metavar="FUNCTION", help="A function of the stack, such as api or probe.")],
    event: Annotated[Path, typer.Argument(metavar="EVENT", help="A file with the event as JSON, as in events/.")],
) -> None:
    """Send an event to a function of the local stack, and print what it returns; exit with 1 if it raises."""
    paths = _find_stack("cupel invoke")
    from cupel.stack import emulator, invocation

    names = invocation.function_names(paths.repository)
    if function not in names:
        raise UsageError(f"{function}: is no function of the stack; they are {', '.join(names)}")
    sent = invocation.read_event(event)
    running = emulator.find_running(paths)
    if running is None:
        raise CupelError("no stack is up; start it with `cupel up`")
    returned = invocation.invoke(running, function, sent)
    ctx.ensure_object(Session).print_json(returned.payload)
    if returned.failed:
        raise typer.Exit(1)


def status(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Show whether and where the local stack runs, and whether it is up to date. Exit code 1 if it is down."""
    paths = _find_stack("cupel status")
    from cupel.stack import lifecycle

    session = ctx.ensure_object(Session)
    stack_status = lifecycle.get_status(paths)
    document: dict[str, Any] = {"running": stack_status is not None}
    if stack_status:
        document |= {
            "apiUrl": stack_status.local.api_url if stack_status.local else None,
            "endpointUrl": stack_status.emulator.endpoint_url,
            "objectsUrl": stack_status.emulator.access.objects_url,
            "processId": stack_status.emulator.pid,
            "current": stack_status.is_current,
        }
    if as_json:
        session.print_json(document)
    else:
        session.out.print(_describe(document), markup=False, soft_wrap=True)
    if not stack_status:
        raise typer.Exit(1)


def sources(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or empty folder.", show_default=False)],
) -> None:
    """Write the sources of the stack to a folder, to build and deploy them to AWS with `sam`."""
    paths = _find_stack("cupel sources")
    from cupel.stack.sources import write_sources

    write_sources(paths, folder)
    ctx.ensure_object(Session).remark(f"next: cd {shlex.quote(str(folder))} && sam build && sam deploy --guided")


def _find_stack(command: str) -> "StackPaths":
    require_extra("stack", f"`{command}`")
    from cupel.stack.paths import find_stack_paths

    return find_stack_paths(Path.cwd())


def _describe(document: dict[str, Any]) -> str:
    if not document["running"]:
        return "down; start it with `cupel up`"
    current = "up to date" if document["current"] else "older than the sources; run `cupel up` to deploy them"
    return f"up at {document['apiUrl']}\n{current}\nprocess {document['processId']}"
