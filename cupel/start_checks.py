"""Finds why a start would be refused before a definition file is uploaded, because a refused start must leave
nothing."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from cupel.errors import ApiProblem, RefusedField
from cupel.files import DefinitionFile
from cupel.json_types import Json

if TYPE_CHECKING:
    from cupel.client import Client

_CONNECTOR, _SIMULATED = "connector/", "sim/"
_GRADERS = ("judgeModel", "personaModel", "embeddingModel", "summarizerModel")


def check_start(client: "Client", file: DefinitionFile, specification: Json, *, needs_access: bool = True) -> None:
    """Raise what the API would refuse: unknown fields, an unknown experiment, and missing or inaccessible models.

    Judge and embedding models may be missing. An estimate needs no access to providers.
    """
    config = specification.get("config") or {}
    problems = [
        *_shape_problems(specification),
        *_experiment_problems(client, specification.get("experimentId")),
        *_model_problems(client, specification, config, needs_access=needs_access),
        *_grader_problems(client, file, config),
    ]
    if problems:
        raise ApiProblem(422, "Invalid request", errors=tuple(problems))


def _shape_problems(specification: Json) -> Iterator[RefusedField]:
    """Yield invalid fields except targets: the file may name connectors in them, which are replaced by ids later."""
    from cupel.definition_rules import shape_problems  # It takes a while to import.
    from cupel_core.contract.run_requests import CreateRun

    own = {name: value for name, value in specification.items() if name not in ("models", "targets")}
    for problem in shape_problems(CreateRun, {**own, "definitionId": "def_", "models": ["sim/steady"]}, ""):
        yield RefusedField(problem.field.lstrip("."), problem.message)


def _experiment_problems(client: "Client", experiment_id: str | None) -> Iterator[RefusedField]:
    if experiment_id is None:
        return
    try:
        client.get_experiment(experiment_id)
    except ApiProblem as problem:
        if problem.status != HTTPStatus.NOT_FOUND:
            raise
        yield RefusedField("experimentId", f"there is no experiment {experiment_id}")


def _model_problems(
    client: "Client", specification: Json, config: Json, *, needs_access: bool
) -> Iterator[RefusedField]:
    named = [(f"models.{number}", model) for number, model in enumerate(specification.get("models") or ())]
    for number, target in enumerate(specification.get("targets") or ()):
        named.append((f"targets.{number}.model", str(target.get("model") or _CONNECTOR)))
    named += [(f"config.{field}", config[field]) for field in _GRADERS if config.get(field)]
    called = [(field, model) for field, model in named if not model.startswith(_CONNECTOR)]
    is_real = any(not model.startswith(_SIMULATED) for _, model in called)
    providers = {each["name"]: each for each in client.list_providers()} if is_real and needs_access else {}
    for field, model in called:
        if problem := _model_problem(model, providers):
            yield RefusedField(field, problem)


def _model_problem(model: str, providers: dict[str, Json]) -> str | None:
    """Return why a model is refused. A provider of the user's own is listed only once it is set up; the start checks
    it."""
    from cupel_core.providers import chat_model_error, model_name_error  # It takes a while to import.

    if problem := chat_model_error(model) if model.startswith(_SIMULATED) else model_name_error(model):
        return problem
    name = model.partition("/")[0]
    provider = providers.get(name)
    if provider is None or provider["usable"]:
        return None
    if not provider["enabled"]:
        return f"provider {name} is disabled"
    lacks = "API key" if provider["needsKey"] and not provider["hasKey"] else "address"
    return f"provider {name} has no {lacks}; `cupel providers set {name}` sets it"


def _grader_problems(client: "Client", file: DefinitionFile, config: Json) -> Iterator[RefusedField]:
    from cupel_core.contract.definition_content import DefinitionContent  # It takes a while to import.
    from cupel_core.contract.scenarios import CreateScenario
    from cupel_core.domain.definitions.definitions import Content
    from cupel_core.domain.definitions.required_models import missing_models
    from cupel_core.domain.scoring.grader_config import GraderConfig

    content = Content.from_json(DefinitionContent.model_validate(file.definition.get("content") or {}).specified())
    scenarios = (CreateScenario.model_validate(each).to_scenario() for each in file.scenarios or ())
    own = GraderConfig(judge_model=config.get("judgeModel"), embedding_model=config.get("embeddingModel"))
    found = missing_models(own, content, scenarios)
    if found:
        settings = client.get_settings()
        for field, message in found:
            if not settings.get(field):
                yield RefusedField(f"config.{field}", f"{message}; set it in the run or the workspace's settings")
