import sys
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from rich.table import Table

from cupel import price_texts
from cupel.commands.options import AsJson, refuse_group_options
from cupel.commands.suggestions import complete_provider
from cupel.environment import read_variable
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.price_texts import parse_price
from cupel.server_models import SET_TIMEOUT_SECONDS, NoList, Server, list_models, model_list_text, own_server_models
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import NO_VALUE
from cupel_core.domain.text.figures import format_usd

app = typer.Typer(help="List providers and configure their keys, addresses and limits.", invoke_without_command=True)


_SETTINGS = (
    "baseUrl",
    "apiKey",
    "enabled",
    "maxParallelRequests",
    "requestsPerMinute",
    "tokensPerMinute",
    "prices",
)


def models(
    ctx: typer.Context,
    provider: Annotated[
        str | None, typer.Option(autocompletion=complete_provider, help="Only models of this provider.")
    ] = None,
    include_all: Annotated[
        bool, typer.Option("--all", help="Include models of providers that are not configured; implied by --provider.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List known models: prices, context length, kinds of input, parameters. Runs can also use other models."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        known = list(client.list_models(provider=provider))
    items = known if include_all or provider else [model for model in known if model["usable"]]
    if as_json:
        session.print_json(items)
        return
    session.out.print(_models_table(items))
    if len(items) < len(known):
        session.remark(f"{len(known) - len(items):,} more of providers that are not configured; list them with --all")


def _models_table(models: Iterable[Json]) -> Table:
    numbers, names = ["$/M input", "$/M output", "context", "longest answer"], ["input", "parameters"]
    columns = table("model", *numbers, *names, "", right=numbers, texts=names)
    for model in models:
        columns.add_row(
            model["id"],
            *(_price(model[f"{side}UsdPerMillion"]) for side in ("input", "output")),
            *(_tokens(model[limit]) for limit in ("contextLength", "maxOutputTokens")),
            *(_joined(model[kinds]) for kinds in ("inputModalities", "supportedParameters")),
            "simulated" if model["simulated"] else "" if model["usable"] else "not configured",
        )
    return columns


@app.callback()
def providers(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List providers, and configure their keys, addresses and limits."""
    if ctx.invoked_subcommand:
        refuse_group_options(ctx)
        return
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        items = list(client.list_providers())
    if as_json:
        session.print_json(items)
        return
    limits = ["parallel", "requests/min", "tokens/min"]
    columns = table("provider", "state", *limits, "address", right=limits)
    for provider in items:
        columns.add_row(
            provider["name"],
            _state(provider),
            *(str(provider[limit] or NO_VALUE) for limit in ("maxParallelRequests", "requestsPerMinute")),
            str(provider["tokensPerMinute"] or NO_VALUE),
            provider["baseUrl"] or NO_VALUE,
        )
    session.out.print(columns)


@app.command("set")
def set_provider(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="PROVIDER", autocompletion=complete_provider, help="Provider, such as openai.")
    ],
    api_key_stdin: Annotated[bool, typer.Option("--api-key-stdin", help="Read the key from standard input.")] = False,
    api_key_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Read the key from an environment variable.")
    ] = None,
    forget_api_key: Annotated[bool, typer.Option("--forget-api-key", help="Delete the key.")] = False,
    base_url: Annotated[str | None, typer.Option(help="Address of its API.")] = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable", help="Whether runs may use it.")] = None,
    max_parallel_requests: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of concurrent requests.")
    ] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="Maximum requests per minute.")] = None,
    tokens_per_minute: Annotated[int | None, typer.Option(min=1, help="Maximum tokens per minute.")] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=INPUT,OUTPUT",
            help="Price of a model in $ per million input and output tokens; `*` is every other model. May be repeated;"
            " replaces all earlier prices.",
        ),
    ] = None,
    forget_prices: Annotated[bool, typer.Option("--forget-prices", help="Use the price list again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Configure a provider. Omitted settings stay unchanged. Keys are never arguments: others could read them.

    Servers of your own are providers named custom-<name>: an address adds one, `cupel providers remove` removes it.
    """
    session = ctx.ensure_object(Session)
    settings = {
        "baseUrl": base_url,
        "enabled": enabled,
        "maxParallelRequests": max_parallel_requests,
        "requestsPerMinute": requests_per_minute,
        "tokensPerMinute": tokens_per_minute,
    }
    changes = without_none(**settings) | _api_key_change(api_key_stdin, api_key_env, forget_api_key)
    changes |= _price_change(price or [], forget_prices)
    if not changes:
        raise UsageError("nothing to set: specify at least one option; see cupel providers set --help")
    with session.connect() as client:
        provider = client.update_provider(name, changes)
    if as_json:
        session.print_json(provider)
        return
    session.out.print(f"{provider['name']}: {_state(provider)}", markup=False)
    if base_url is not None and own_server_models([f"{name}/"]):
        _print_listed_models(session, name, Server(base_url, changes.get("apiKey")))


def _print_listed_models(session: Session, provider: str, server: Server) -> None:
    """Print a server's models. A server may have no list, or only the stack may reach it, and is still valid."""
    try:
        session.out.print(
            model_list_text(provider, list_models(server, SET_TIMEOUT_SECONDS)), markup=False, soft_wrap=True
        )
    except NoList as error:
        session.remark(f"note: {server.address} gave this computer no list of its models: {error}")


@app.command("remove")
def remove_provider(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="PROVIDER", autocompletion=complete_provider, help="Provider, such as custom-gpu.")
    ],
) -> None:
    """Delete a provider's key and settings; a server of your own is then no longer listed."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.update_provider(name, dict.fromkeys(_SETTINGS))
    session.out.print(f"{name}: removed", markup=False)


def _price_change(prices: list[str], forget: bool) -> Json:
    if prices and forget:
        raise UsageError("specify only one of --price and --forget-prices")
    if forget:
        return {"prices": None}
    return {"prices": [_parse_price(text) for text in prices]} if prices else {}


def _parse_price(text: str) -> Json:
    model, figures = parse_price(text, "--price")
    given = zip(price_texts.FIELDS, figures, strict=False)
    return {"model": None if model == price_texts.ANY_MODEL else model, **without_none(**dict(given))}


def _api_key_change(from_stdin: bool, from_variable: str | None, forget: bool) -> Json:
    if from_stdin + bool(from_variable) + forget > 1:
        raise UsageError("specify only one of --api-key-stdin, --api-key-env and --forget-api-key")
    if forget:
        return {"apiKey": None}
    if not from_stdin and not from_variable:
        return {}
    key = _read_key() if from_stdin else (read_variable(str(from_variable)) or "").strip()
    if not key:
        raise UsageError(
            "--api-key-stdin: standard input is empty" if from_stdin else f"--api-key-env: {from_variable} is not set"
        )
    return {"apiKey": key}


def _read_key() -> str:
    line = sys.stdin.readline()
    return (line + sys.stdin.read() if line.lstrip().startswith("{") else line).strip()


def _state(provider: Json) -> str:
    """Return the state, which is not "ready": without a call, a key may be wrong, and Bedrock may lack credentials."""
    if provider["usable"]:
        return "configured"
    if not provider["enabled"]:
        return "disabled"
    return "needs a key" if provider["needsKey"] and not provider["hasKey"] else "needs an address"


def _price(usd: float | None) -> str:
    return format_usd(usd)


def _tokens(count: int | None) -> str:
    return NO_VALUE if count is None else f"{count:,}"


def _joined(names: Sequence[str] | None) -> str:
    return ", ".join(names or ()) or NO_VALUE
