from cupel_core.domain.conversations.conversation import DEFAULT_MAX_MESSAGES, ConversationRules
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.grader_config import GraderConfig


def conversation_rules(
    scenario: Scenario, content: Content, graders: GraderConfig, *, has_persona: bool, max_turns: int | None
) -> ConversationRules:
    """Return the rules; `max_turns` is the run's limit, and None means the definition's."""
    return ConversationRules(
        criteria=scenario.criteria,
        has_judge=graders.judge_model is not None,
        has_user_model=(graders.persona_model or graders.judge_model) is not None,
        has_user_role=has_persona or bool(scenario.instructions),
        max_messages=scenario.max_messages or DEFAULT_MAX_MESSAGES,
        scripted=scenario.follow_ups or content.follow_ups,
        max_turns=content.max_turns if max_turns is None else max_turns,
    )
