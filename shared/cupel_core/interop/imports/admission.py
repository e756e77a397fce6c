"""Applies the rules of requests and definition files to everything that an import creates, before it is stored.

Without this, an import could store values that no request may contain, and reading them would fail later.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from cupel_core.base.errors import FieldError, Invalid
from cupel_core.contract.connectors import CreateConnector
from cupel_core.contract.definitions import CreateDefinition
from cupel_core.contract.parameters import TargetInput
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.definitions.assertions import assertion_errors
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.codec import encode
from cupel_core.domain.definitions.drafts import ConnectorDraft, DefinitionDraft, ImportedSuite, ImportReport
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.domain.text.validation_messages import field_message
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.providers.addresses import header_errors
from cupel_core.providers.connectors.config import config_errors

_MAX_REASONS = 3


def admit(suite: ImportedSuite, *, allow_code: bool = False) -> ImportedSuite:
    """Return the suite without the parts that a request or a definition file would be refused for.

    The report names these parts with reasons. `allow_code` admits checks of code, as in files.
    """
    drafts = (_admitted_draft(draft, suite.report, allow_code=allow_code) for draft in suite.drafts)
    connectors = tuple(each for each in suite.connectors if _is_admitted_connector(each, suite.report))
    return replace(suite, drafts=tuple(filter(None, drafts)), connectors=connectors)


def require_admission(suite: ImportedSuite) -> ImportedSuite:
    """Return the suite of a dataset if its definition is admitted; its scenarios were checked row by row.

    Raises `InvalidDocument`.
    """
    for draft in suite.drafts:
        if reason := _reasons(_definition_problems(draft, allow_code=False)):
            raise InvalidDocument(f"its definition would be refused: {reason}")
    return suite


def request_fields(scenario: Scenario) -> dict[str, Any]:
    return {name: value for name, value in scenario.to_json().items() if name != "id" and value not in ("", {}, [])}


def _admitted_draft(draft: DefinitionDraft, report: ImportReport, *, allow_code: bool) -> DefinitionDraft | None:
    """Return the draft with its admitted scenarios and targets, or None if its content is refused or nothing is
    left."""
    if reason := _reasons(_definition_problems(draft, allow_code=allow_code)):
        report.skip("", draft.name[:200], reason)
        report.count_imported("scenarios", -len(draft.scenarios))
        return None
    scenarios = tuple(each for each in draft.scenarios if _is_admitted_scenario(each, report, allow_code=allow_code))
    targets = tuple(each for each in draft.targets if _is_admitted_target(each, report))
    named = {str(target["model"]) for target in draft.targets} - {str(target["model"]) for target in targets}
    models = tuple(model for model in draft.models if model not in named)
    return replace(draft, scenarios=scenarios, targets=targets, models=models) if scenarios else None


def _definition_problems(draft: DefinitionDraft, *, allow_code: bool) -> Iterator[str]:
    body = {"name": draft.name, "tags": list(draft.tags), "content": dict(draft.content)}
    if problems := list(_shape_problems(CreateDefinition, body)):
        yield from problems
        return
    try:
        validate_content(dict(draft.content), allow_code=allow_code)
    except Invalid as error:
        yield error.detail


def _is_admitted_scenario(scenario: Scenario, report: ImportReport, *, allow_code: bool) -> bool:
    problems = list(map(_as_text, scenario_problems(scenario, allow_code=allow_code)))
    if problems:
        report.skip(_place(scenario), scenario.name[:200], _reasons(problems))
        report.count_imported("scenarios", -1)
    return not problems


def scenario_problems(scenario: Scenario, *, allow_code: bool = False) -> Iterator[FieldError]:
    body = request_fields(scenario)
    problems = tuple(_field_problems(CreateScenario, body))
    yield from problems
    if not problems:
        yield from assertion_errors(body.get("assertions") or (), "assertions", allow_code=allow_code)


def _place(scenario: Scenario) -> str:
    source = scenario.metadata.get("promptfoo")
    return str(source.get("where", "")) if isinstance(source, dict) else ""


def _is_admitted_target(target: Any, report: ImportReport) -> bool:
    problems = list(_shape_problems(TargetInput, target))
    if problems:
        report.skip("providers", str(target.get("label") or target.get("model"))[:200], _reasons(problems))
    return not problems


def _is_admitted_connector(connector: ConnectorDraft, report: ImportReport) -> bool:
    problems = list(_connector_problems(connector))
    if problems:
        report.skip("providers", connector.name[:200], _reasons(problems))
        report.count_imported("connectors", -1)
    return not problems


def _connector_problems(connector: ConnectorDraft) -> Iterator[str]:
    yield from _shape_problems(CreateConnector, encode(connector))
    for name, message in config_errors(ConnectorType.HTTP, dict(connector.config)):
        yield f"config.{name} {message}"
    for name, message in header_errors(dict(connector.headers)):
        yield f"headers.{name} {message}"


def _shape_problems(model: type[BaseModel], body: Any) -> Iterator[str]:
    return map(_as_text, _field_problems(model, body))


def _as_text(problem: FieldError) -> str:
    return f"{problem.field} {problem.message}".strip()


def _field_problems(model: type[BaseModel], body: Any) -> Iterator[FieldError]:
    try:
        model.model_validate(body)
    except ValidationError as error:
        for each in error.errors(include_url=False):
            yield FieldError(".".join(map(str, each["loc"])), field_message(each["msg"]))


def _reasons(problems: Iterator[str] | list[str]) -> str:
    return "; ".join(list(problems)[:_MAX_REASONS])
