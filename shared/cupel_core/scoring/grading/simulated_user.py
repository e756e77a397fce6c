from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from cupel_core.domain.conversations.material import messages_material, reading_instructions, reading_request
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.conversations.tool_results import shown_to_user
from cupel_core.domain.resources.personas import Persona
from cupel_core.scoring.grading.grader import Grader, GraderReply, request_structured
from cupel_core.scoring.grading.replies import StructuredReply, UnusableReply, refuses_role
from cupel_core.scoring.grading.reply_values import cut_text

_INSTRUCTIONS = """You play a user who talks to an assistant. Write what this user says next, in the user's own voice
and language, as one natural message. You are the user: never answer as the assistant, never tell that you are playing,
and never do the assistant's work for it.

Who the user is: {persona}

What the user is about: {instructions}

Answer with one JSON object whose "content" is the message alone, without quotes or a name before it. The "conversation"
is what was said so far; if it is empty, begin it."""
_NO_PERSONA = "an ordinary user"
_NO_INSTRUCTIONS = "what the conversation shows; go on naturally towards it"


_MAX_LENGTH = 20_000


class _UserMessage(StructuredReply):
    content: Annotated[str, Field(min_length=1, max_length=_MAX_LENGTH), cut_text(_MAX_LENGTH)]

    @classmethod
    def of_text(cls, text: str, /) -> Mapping[str, Any] | None:
        """Read a text that is no JSON as the message itself, unless the model refuses."""
        if text.startswith(("{", "[", "```")):
            return None
        if refuses_role(text):
            raise UnusableReply("it refuses to play the user")
        return {"content": text}


async def generate_persona_message(
    grader: Grader,
    system_prompt: str,
    messages: tuple[Message, ...],
    interrupted: list[Spend] | None = None,
) -> GraderReply[str]:
    """Return the user's next message. Raises GraderError like a judge. `system_prompt` is that of
    `simulated_user_prompt`, `interrupted` that of `request_structured`."""
    visible = messages_material(shown_to_user(messages))
    request = reading_request(system_prompt, {"conversation": visible}, ModelParameters())
    reply = await request_structured(grader, request, _UserMessage, interrupted)
    return GraderReply(reply.value.content, reply.raw, reply.spend)


def simulated_user_prompt(persona: Persona | None, instructions: str | None) -> str:
    """Return the system prompt of the model that plays the user; without a persona, an ordinary user."""
    user = _INSTRUCTIONS.format(persona=_describe_persona(persona), instructions=instructions or _NO_INSTRUCTIONS)
    return reading_instructions(user)


def _describe_persona(persona: Persona | None) -> str:
    if persona is None:
        return _NO_PERSONA
    return "\n".join(part for part in (persona.name, persona.description, persona.system_prompt) if part)
