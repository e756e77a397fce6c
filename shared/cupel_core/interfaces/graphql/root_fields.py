"""Derives the fields of Query and Mutation from the operations, and lists how published fields differ.

`getPersona` is the query `persona(id)`, `listPersonas` the query `personas(limit, offset)`, and every other operation a
mutation of its name. POST operations that viewers may call change nothing, and are queries of their names.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from pydantic.alias_generators import to_camel

from cupel_core.base.errors import AppError, Conflict, NotFound
from cupel_core.contract.routes import Route
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.index import INDEX

_READ_COST = 5
_CHANGE_COST = 20
_COUNTING_COST = 500
"""The outcomes of a whole run are counted, or searched, which may take seconds."""
_BLOCK_COST = 200
"""The figures or names of 1,000 probes or cases are read at once."""


class FieldOverride(NamedTuple):
    name: str | None = None
    is_query: bool = False
    renamed: Mapping[str, str] = MappingProxyType({})
    """Maps parameters of the path, other parameters or fields of the body to the names of arguments."""
    is_flat: bool = False
    arguments: str | None = None
    """Arguments, as the schema declares them, that replace the derived ones."""
    prepare: str | None = None
    input_type: str | None = None
    is_input_optional: bool = False
    error_prefix: str = "input"
    """Paths of invalid fields of the body begin with it."""
    result_type: str | None = None
    """The type of the result, which may have more fields than the operation's response."""
    defaults: Mapping[str, str] = MappingProxyType({})
    then: str | None = None
    """An operation that is called after the field's own, and whose response is the value of the field."""
    may_be_absent: bool = False
    """If true, the field is null for an object that does not exist although no argument names it."""
    absent: tuple[type[AppError], ...] = (NotFound,)
    """With these errors, a nullable query is null."""
    is_connection: bool = False
    """If true, a list is read with `first` and `after`, and returned with its `pageInfo`."""
    cost: int | None = None
    item_cost: int = 1
    note: str | None = None


_START = FieldOverride(prepare="expand_start", input_type="StartRunInput")
_RUN_OF_EXPERIMENT = FieldOverride(renamed={"run_id": "runId"}, then="getExperiment", result_type="Experiment")
_EITHER_ID = FieldOverride(
    renamed={"named_run_id": "runId"},
    arguments="id: ID, runId: ID",
    prepare="choose_run_id",
    result_type="Run",
    note="Takes either `id` or `runId`",
)
OVERRIDES: dict[str, FieldOverride] = {
    "addExperimentRun": _RUN_OF_EXPERIMENT._replace(name="addRunToExperiment"),
    "analyzeRun": FieldOverride(renamed={"run_id": "runId"}, is_flat=True),
    "cancelRun": _EITHER_ID,
    "createBranch": FieldOverride(is_input_optional=True),
    "createComparison": FieldOverride(
        "compareRuns",
        arguments="baselineRunId: ID!, comparisonRunId: ID!, options: CompareOptions",
        prepare="name_compared_runs",
        error_prefix="options",
        note="Given the same run twice, compares its targets",
    ),
    "createEvalRun": FieldOverride("startEvalRun", renamed={"eval_id": "evalId"}),
    "createRun": _START._replace(
        name="startRun", note="Requests repeated with the same `idempotencyKey` start one run"
    ),
    "createScaleRun": FieldOverride("startScaleRun"),
    "createScenarios": FieldOverride(is_flat=True, arguments="definitionId: ID!, items: [CreateScenarioInput!]!"),
    "deleteRun": _EITHER_ID._replace(result_type=None),
    "estimateEvalRun": FieldOverride(renamed={"eval_id": "evalId"}),
    "estimateExpansion": FieldOverride(is_flat=True),
    "estimateRetry": FieldOverride(is_flat=True),
    "estimateRun": _START,
    "estimateTrial": FieldOverride(is_query=True),
    "expandRun": FieldOverride(is_flat=True),
    "findProbeMatches": FieldOverride("probeMatches", renamed={"first": "firstIndex"}, cost=_COUNTING_COST),
    "forkDefinition": FieldOverride(renamed={"definition_id": "parentId", "content": "changes"}, is_flat=True),
    "generateScenarios": FieldOverride(is_flat=True, defaults={"mode": "matrix"}),
    "getCaseNames": FieldOverride(renamed={"first": "firstIndex"}, cost=_BLOCK_COST),
    "getCaseTexts": FieldOverride(renamed={"first": "firstIndex"}, cost=_BLOCK_COST),
    "getProbeColumns": FieldOverride(cost=_BLOCK_COST),
    "getRunBreakdown": FieldOverride(cost=_COUNTING_COST),
    "getRunResults": FieldOverride(cost=_COUNTING_COST),
    "getRunScores": FieldOverride(cost=_COUNTING_COST),
    "getWebhook": FieldOverride(may_be_absent=True),
    "getTurnPrompt": FieldOverride(absent=(NotFound, Conflict)),
    "listComparisons": FieldOverride(result_type="RunComparison"),
    "listDefinitions": FieldOverride(result_type="Definition"),
    "listGraderAgreement": FieldOverride(cost=_COUNTING_COST),
    "listProbeExcerpts": FieldOverride(item_cost=5),
    "listProbes": FieldOverride(item_cost=5),
    "listProviders": FieldOverride(defaults={"limit": "100"}),
    "listScenarioScores": FieldOverride(cost=_COUNTING_COST),
    "listSchedules": FieldOverride(item_cost=2),
    "pauseRun": _EITHER_ID,
    "redriveDeadLetters": FieldOverride(is_flat=True),
    "removeExperimentRun": _RUN_OF_EXPERIMENT._replace(name="removeRunFromExperiment"),
    "resumeRun": _EITHER_ID,
    "retryRun": FieldOverride(is_flat=True),
    "startTurn": FieldOverride(
        note="Poll `turn(chatId, id)` until it is `done`. "
        "Requests repeated with the same `clientRequestId` start one turn"
    ),
    "updateRescoreBudget": FieldOverride("setRescoreBudget", is_flat=True),
    "updateRunBudget": FieldOverride("setRunBudget", is_flat=True),
}
"""Maps operations to published names and arguments that differ from the derived ones."""
CONNECTIONS = {"definitionsConnection": "listDefinitions", "runsConnection": "listRuns"}
OTHER_FIELDS = {
    "getBranchSession": "Chat.session",
    "getDeepAnalysis": "Run.deepAnalysis",
    "getExperimentSummary": "Experiment.summary",
    "getRunAnalysis": "Query.analysis",
    "getRunBudget": "Run.budget",
    "getRunProgress": "Run.targetProgress",
    "getRunReport": "Run.report",
    "listAnalyzedScenarios": "Analysis.scenarios",
    "listBranchArtifacts": "Chat.artifacts",
    "listBranches": "Chat.branches",
    "listComparisonScenarios": "RunComparison.mostChangedScenarios",
    "listDefinitionAncestors": "Definition.ancestors",
    "listDefinitionDescendants": "Definition.descendants",
    "listExchanges": "Chat.exchanges",
    "listMessageVariants": "Chat.variants",
    "listModels": "Query.models",
    "listQueues": "Query.queueStatus",
    "listReportConversations": "Report.conversations",
    "listReports": "Run.reports",
    "listRescoreResults": "Rescore.results",
    "listRescores": "Run.rescores",
    "listRunAnalyses": "Run.analysisHistory",
    "listRunCases": "Run.cases",
    "listRunEvents": "Run.events",
    "listRunProbes": "Run.probes",
    "listScenarios": "Definition.scenarios",
    "listTranscripts": "Run.transcripts",
    "listTurns": "Chat.turns",
    "pauseQueues": "Mutation.pauseQueue",
    "resumeQueues": "Mutation.resumeQueue",
}
"""Maps operations to the fields that have their data; functions of `resolvers` resolve these."""
WITHOUT_FIELD = {
    "completeFile": "It is part of an upload, whose content is sent over HTTP.",
    "createEventTicket": "A ticket is for the stream of events over HTTP.",
    "createFile": "It announces an upload, whose content is sent over HTTP.",
    "createLoginCode": "Browsers sign in over HTTP.",
    "getHealth": "It is public, and GraphQL needs a token.",
    "getOpenApiDocument": "It describes the HTTP API, and is public.",
    "redeemLoginCode": "It is public, because browsers sign in with it; GraphQL needs a token.",
}
"""Maps operations without a field to the reason. OpenAI's API has no fields, because OpenAI defines its contract."""


class RootField(NamedTuple):
    parent: str
    name: str
    route: Route
    override: FieldOverride

    @property
    def path_arguments(self) -> dict[str, str]:
        names = {each: self.override.renamed.get(each) or to_camel(each) for each in self.route.path_names}
        own = self.route.path_names[-1] if names else ""
        is_named = own.removesuffix("_id") in self.route.id.lower()
        if own.endswith("_id") and is_named and own not in self.override.renamed:
            names[own] = "id"
        return names

    @property
    def parameters(self) -> dict[str, str]:
        names = {**self.override.renamed, **self.path_arguments, "body": "input"}
        return {argument: name for name, argument in names.items()}

    @property
    def may_be_absent(self) -> bool:
        """Return whether the field is null for a missing object, as every query that names an object is."""
        return self.override.may_be_absent or (self.route.is_read and "{" in self.route.path)

    @property
    def cost(self) -> int:
        return self.override.cost or (_READ_COST if self.route.is_read else _CHANGE_COST)


def _field_of(route: Route) -> RootField:
    override = OVERRIDES.get(route.id, FieldOverride())
    is_query = override.is_query or route.is_read or route.minimum_role is AccessRole.VIEWER
    return RootField("Query" if is_query else "Mutation", override.name or _derived_name(route), route, override)


def _derived_name(route: Route) -> str:
    if not route.is_read:
        return route.id
    name = route.id.removeprefix("get").removeprefix("list")
    return name[0].lower() + name[1:]


def _connection_of(name: str, operation_id: str) -> RootField:
    (route,) = (each for each in INDEX if each.id == operation_id)
    override = OVERRIDES.get(operation_id, FieldOverride())
    return RootField("Query", name, route, override._replace(name=name, is_connection=True))


def _root_fields() -> dict[str, RootField]:
    routes = [each for each in INDEX if not each.is_of_openai and each.id not in {**OTHER_FIELDS, **WITHOUT_FIELD}]
    fields = [*map(_field_of, routes), *(_connection_of(*each) for each in CONNECTIONS.items())]
    return {f"{each.parent}.{each.name}": each for each in fields}


ROOT_FIELDS = _root_fields()
