from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from cupel_core.base.deferred import dataclass, replace
from cupel_core.conversations.pipeline.kinds import ModelCaller
from cupel_core.conversations.pipeline_turn import TurnOperations
from cupel_core.conversations.tool_execution import ToolExecutor
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.conversation import ConversationRules
from cupel_core.domain.conversations.model_parameters import ModelParameters, ParameterFields
from cupel_core.domain.conversations.model_request import Message, RequestParameter, SimulationKey
from cupel_core.domain.conversations.tool_results import DEFAULT_TOOL_ROUNDS, ScriptedResult
from cupel_core.domain.definitions.conversation_rules import conversation_rules
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.prompts import Prompt
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.scoring.grading.graders import GraderFactory

if TYPE_CHECKING:
    from cupel_core.scoring.code_assertions import CodeRunner


@dataclass(frozen=True)
class ConversationSpec:
    index: int
    scenario: Scenario
    content: Content
    graders: GraderFactory
    thread_id: str
    """A UUID of this probe in this retry round, by which an agent recognizes a resumed conversation."""
    persona: Persona | None = None
    persona_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    omitted_parameters: tuple[RequestParameter, ...] = ()
    prompt: Prompt | None = None
    params: ParameterFields = field(default_factory=dict)
    """The parameters of every request to the target, all defaults included."""
    variant: str = ""
    """The names of target and prompt, by which simulated models answer differently."""
    max_turns: int | None = None
    repeat: int = 0
    seed: int = 0
    retry_round: int = 1
    code_runner: "CodeRunner | None" = None
    """Runs the code of assertions. It is None where code is not run."""
    tool_executor: ToolExecutor | None = None
    """Executes the calls that no script answers. It is None if nothing does."""
    profile: RunProfile | None = None
    """The profile whose operations run before and after the target's calls."""
    is_resumed: bool = False
    """Another delivery may have begun the conversation."""

    @cached_property
    def rules(self) -> ConversationRules:
        rules = conversation_rules(
            self.scenario,
            self.content,
            self.graders.config,
            has_persona=self.persona is not None,
            max_turns=self.max_turns,
        )
        return replace(rules, max_tool_rounds=self._max_tool_rounds, has_profile=self.profile is not None)

    @property
    def _max_tool_rounds(self) -> int:
        """Return 0 if neither a script nor an executor answers calls, which are only recorded then."""
        if not self.tool_results and self.tool_executor is None:
            return 0
        rounds: int | None = self.params.get("maxToolRounds")
        return DEFAULT_TOOL_ROUNDS if rounds is None else rounds

    @cached_property
    def tool_results(self) -> tuple[ScriptedResult, ...]:
        return (*self.scenario.tool_results, *self.content.tool_results)

    @cached_property
    def assertions(self) -> tuple[Assertion, ...]:
        return (*self.content.assertions, *self.scenario.assertions)

    @cached_property
    def parameters(self) -> ModelParameters:
        return decode(ModelParameters, self.params)

    @cached_property
    def simulation_key(self) -> SimulationKey:
        return SimulationKey(self.scenario.id, self.scenario.dimensions, self.repeat, self.seed, self.variant)

    @cached_property
    def operations(self) -> TurnOperations | None:
        if self.profile is None:
            return None
        case = {"scenarioId": self.scenario.id, "dimensions": self.scenario.dimensions}
        variables = dict(self.scenario.variables)
        return TurnOperations(self.profile, ModelCaller(self.graders, self.simulation_key), case, variables)

    @property
    def opening_messages(self) -> tuple[Message, ...]:
        """Return the messages. Raise MissingValue if the scenario lacks a value that the prompt needs."""
        return self.content.opening_of(self.scenario, self.prompt)
