"""The files of a request's messages. They are checked, and stored if they were part of the request."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.definitions.files import catalog
from cupel_core.domain.definitions.prompts import Prompt
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.files.formats import FileInfo
from cupel_core.domain.files.references import References, ids_of, prompts_with_files
from cupel_core.store import files

MAX_ERRORS = 100


def attach_to_scenarios(
    workspace: str,
    located: Sequence[tuple[str, Scenario]],
    now: datetime,
    *,
    also_known: Mapping[str, FileInfo] = MappingProxyType({}),
) -> list[Scenario]:
    """Check and store the files of scenarios, each of which is given with the name of its field. `also_known` are files
    that the caller stores, by id. Raise Invalid, naming each file that is missing or has unexpected properties."""
    scenarios = [scenario for _, scenario in located]
    if not any(scenario.has_files for scenario in scenarios):
        return scenarios
    known = _known(workspace, ids_of(message for scenario in scenarios for message in scenario.all_messages))
    references = References({**known, **also_known}.get)
    attached = [references.scenario(scenario, f"{field}." if field else "") for field, scenario in located]
    _raise_if_any(references)
    _store(workspace, references, now)
    return attached


def attach_to_content(workspace: str, content: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
    """Check and store the files of a definition's content (JSON). Raise Invalid as `attach_to_scenarios` does."""
    if not prompts_with_files(content):
        return content
    prompts = [Prompt.from_json(each) for each in content["prompts"]]
    known = _known(workspace, ids_of(message for prompt in prompts for message in prompt.messages))
    references = References(known.get)
    attached = [references.prompt(prompt, f"content.prompts.{n}.") for n, prompt in enumerate(prompts)]
    _raise_if_any(references)
    _store(workspace, references, now)
    return {**content, "prompts": [prompt.to_json() for prompt in attached]}


def _known(workspace: str, file_ids: set[str]) -> dict[str, FileInfo]:
    found = files.get_many(workspace, file_ids) if file_ids else {}
    return {file.id: file.info for file in found.values() if file.info is not None}


def _raise_if_any(references: References) -> None:
    if references.problems:
        raise Invalid.fields(FieldError(*problem) for problem in references.problems[:MAX_ERRORS])


def _store(workspace: str, references: References, now: datetime) -> None:
    for name, content, info in references.new_files.values():
        catalog.store(workspace, name, content, info, now)
