"""Decisions that a pattern reads from answers, for those who write it."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, example
from cupel_core.contract.fields import LongText

MAX_ANSWERS = 50


class ReadDecisions(RequestModel):
    """A decision pattern, and answers that it is tried on. Nothing is stored, and no model is called."""

    model_config = example({"pattern": r"Rating: (\d)", "answers": ["It depends.\nRating: 4", "I cannot say."]})

    pattern: Annotated[str, Field(strict=True, min_length=1)]
    """A pattern as in a definition's `decision`."""
    answers: Annotated[list[LongText], Field(min_length=1, max_length=MAX_ANSWERS)]
    """The last 20,000 characters are read."""


class ReadDecisionResponse(ResponseModel):
    code: str | None
    """`1` to `5`, or `other`; null if the pattern does not match, and with an error. Example: "4" """
    error: str | None
    """Limit of time or memory that reading it exceeded."""


class DecisionsResponse(ResponseModel):
    items: list[ReadDecisionResponse]
    """One item per answer, in order."""
