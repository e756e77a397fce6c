import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.server_models import servers_of_environment, servers_of_stack, unlisted_notes
from cupel.session import Session
from cupel.source_files import SourceFile
from cupel_core.domain.text.near_names import near_name

if TYPE_CHECKING:
    from cupel.client import Client

_PROFILE_PREFIX = "prof_"


def split_models(models: list[str], option: str = "--models") -> list[str]:
    names = [name.strip() for each in models for name in each.split(",")]
    if not all(names):
        raise UsageError(f"{option}: expected names such as openai/gpt-6.1-terra, separated by commas")
    return names


def require_targets(settings: Json, option: str = "--models") -> None:
    """Raise UsageError unless a request has exactly one of `models` and `targets`."""
    if ("models" in settings) == ("targets" in settings):
        raise UsageError(f"{option}: specify either {option} or --targets, a file")


def read_targets(text: str) -> list[Json]:
    """Read a list of targets as JSON, or a YAML or JSON file with a list or a mapping with one as `targets`."""
    try:
        document = json.loads(text) if text.startswith("[") else SourceFile.read(Path(text)).document
    except ValueError as error:
        raise UsageError(f"--targets: is not JSON: {error}") from None
    targets = document.get("targets") if isinstance(document, dict) else document
    if not isinstance(targets, list) or not targets or not all(isinstance(each, dict) for each in targets):
        raise UsageError(
            f"--targets: {text}: expected a list of targets such as {{model: openai/gpt-6.1-terra, label: A}}"
        )
    return targets


def target_specs(specification: Json) -> list[str | Json]:
    return list(specification.get("targets") or specification.get("models") or ())


def model_names(specification: Json) -> list[str]:
    names = (each if isinstance(each, str) else each.get("model") for each in target_specs(specification))
    return [name for name in names if isinstance(name, str)]


def parameters_of(options: list[str]) -> Json:
    """Return the values of --param: JSON, or text. Raises UsageError for one that is not `name=value`."""
    return dict(map(_parameter, options))


def _parameter(option: str) -> tuple[str, Any]:
    name, equals, text = option.partition("=")
    if not name or not equals:
        raise UsageError(f"--param: {option}: expected NAME=VALUE, such as maxOutputTokens=500")
    try:
        return name, json.loads(text)
    except ValueError:
        return name, text


def warn_about_models(session: Session, settings: Json) -> None:
    """Warn about models of a request that are perhaps misspelled: its targets, and those that grade and simulate."""
    fields = settings | settings.get("config", {})
    others = (name for field, name in fields.items() if field.endswith("Model"))
    warn_about_unlisted_models(session, (*model_names(settings), *others))


def with_profile_id(client: "Client", body: Json) -> Json:
    """Replace the name of an operation profile in `config` with its id. Raises UsageError for an unknown name."""
    name = body["config"].get("profileId")
    return body if name is None else {**body, "config": {**body["config"], "profileId": profile_id(client, name)}}


def profile_id(client: "Client", name: str) -> str:
    if name.startswith(_PROFILE_PREFIX):
        return name
    ids = {profile["name"].casefold(): str(profile["id"]) for profile in client.list_profiles()}
    if name.casefold() not in ids:
        known = ", ".join(sorted(ids)) or "none"
        raise UsageError(f"--profile: there is no profile {name}; profiles of the workspace: {known}")
    return ids[name.casefold()]


def warn_about_unlisted_models(session: Session, models: Iterable[str | None]) -> None:
    """Warn about models that are perhaps misspelled. They may also be newer than the price list, or private."""
    # The price list takes longer to import than the rest of the command.
    from cupel_core.providers import prices

    for model in dict.fromkeys(filter(None, models)):
        if prices.is_unlisted(model):
            provider, _, name = model.partition("/")
            listed = [known.id.partition("/")[2] for known in prices.known_models(provider)]
            near = near_name(name, listed)
            hint = f"did you mean {provider}/{near}? Otherwise" if near else "if the name is right,"
            session.remark(f"warning: {model} is not in the price list; {hint} its costs are unknown")


def note_unlisted_models(session: Session, models: Mapping[str, Sequence[str]], client: "Client | None" = None) -> None:
    """Note models that servers of the user's own do not list, by provider; without a client, in process."""
    if not models:
        return
    servers = servers_of_stack(client.list_providers()) if client is not None else servers_of_environment(models)
    for note in unlisted_notes(models, servers):
        session.remark(note)
