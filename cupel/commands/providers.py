"""`cupel models` and `cupel providers`: what can be evaluated, and how it is reached."""

import sys
from typing import Annotated

import typer

from cupel import render
from cupel.commands.options import AsJson
from cupel.environment import variable
from cupel.errors import WrongUse
from cupel.json_types import Json
from cupel.session import Session

app = typer.Typer(help="List providers and set up their keys, addresses and limits.", invoke_without_command=True)


def models(
    ctx: typer.Context,
    provider: Annotated[str | None, typer.Option(help="Only this provider's.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Also those of providers that are not set up.")] = False,
    as_json: AsJson = False,
) -> None:
    """List known models with their prices. Others of the same providers can be named as well."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        known = list(client.models(provider=provider))
    found = known if every else [model for model in known if model["usable"]]
    if as_json:
        session.print_json(found)
        return
    prices = ["$ per million input tokens", "output tokens"]
    columns = render.table("model", *prices, "", right=prices)
    for model in found:
        note = "simulated" if model["simulated"] else "" if model["usable"] else "not set up"
        columns.add_row(model["id"], *(_price(model[f"{side}UsdPerMillion"]) for side in ("input", "output")), note)
    session.out.print(columns)
    if len(found) < len(known):
        session.remark(f"{len(known) - len(found):,} more with --all, of providers that are not set up")


@app.callback()
def providers(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List providers, and set up their keys, addresses and limits."""
    if ctx.invoked_subcommand:
        return
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        found = list(client.providers())
    if as_json:
        session.print_json(found)
        return
    limits = ["parallel", "requests/min", "tokens/min"]
    columns = render.table("provider", "state", *limits, "address", right=limits)
    for provider in found:
        columns.add_row(
            provider["name"],
            _state(provider),
            *(str(provider[limit] or render.NOTHING) for limit in ("maxParallelRequests", "requestsPerMinute")),
            str(provider["tokensPerMinute"] or render.NOTHING),
            provider["baseUrl"] or render.NOTHING,
        )
    session.out.print(columns)


@app.command("set")
def set_provider(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="A provider, such as openai.")],
    api_key_stdin: Annotated[bool, typer.Option("--api-key-stdin", help="Read the key from standard input.")] = False,
    api_key_env: Annotated[str | None, typer.Option(metavar="VARIABLE", help="Take the key from a variable.")] = None,
    forget_api_key: Annotated[bool, typer.Option("--forget-api-key", help="Delete the key.")] = False,
    base_url: Annotated[str | None, typer.Option(help="Where its API is.")] = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable", help="Whether runs may use it.")] = None,
    max_parallel_requests: Annotated[int | None, typer.Option(min=1, help="Requests at the same time.")] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="Requests a minute.")] = None,
    tokens_per_minute: Annotated[int | None, typer.Option(min=1, help="Tokens a minute.")] = None,
    as_json: AsJson = False,
) -> None:
    """Set up a provider. What is not named stays as it is; a key is never an argument, which others could read."""
    session = ctx.ensure_object(Session)
    settings = {
        "baseUrl": base_url,
        "enabled": enabled,
        "maxParallelRequests": max_parallel_requests,
        "requestsPerMinute": requests_per_minute,
        "tokensPerMinute": tokens_per_minute,
    }
    changes = {field: value for field, value in settings.items() if value is not None}
    changes |= _key(api_key_stdin, api_key_env, forget_api_key)
    if not changes:
        raise WrongUse("nothing to set; see cupel providers set --help")
    with session.connect() as client:
        provider = client.configure_provider(name, changes)
    if as_json:
        session.print_json(provider)
    else:
        session.out.print(f"{provider['name']}: {_state(provider)}", markup=False)


def _key(from_stdin: bool, from_variable: str | None, forget: bool) -> Json:
    if from_stdin + bool(from_variable) + forget > 1:
        raise WrongUse("give one of --api-key-stdin, --api-key-env and --forget-api-key")
    if forget:
        return {"apiKey": None}
    if not from_stdin and not from_variable:
        return {}
    key = sys.stdin.readline().strip() if from_stdin else (variable(str(from_variable)) or "").strip()
    if not key:
        raise WrongUse("standard input holds no key" if from_stdin else f"--api-key-env: {from_variable} is not set")
    return {"apiKey": key}


def _state(provider: Json) -> str:
    if provider["usable"]:
        return "ready"
    if not provider["enabled"]:
        return "disabled"
    return "needs a key" if provider["needsKey"] and not provider["hasKey"] else "needs an address"


def _price(usd: float | None) -> str:
    return render.NOTHING if usd is None else f"{usd:,.2f}"
