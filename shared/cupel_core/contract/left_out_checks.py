"""Checks that an import left out, in scenarios and in the results of runs."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.fields import Label

LeftOutChecks = Annotated[
    dict[Label, Annotated[int, Field(strict=True, ge=1, le=1_000_000)]],
    Field(
        max_length=100,
        description="How many checks of each type the author of an imported file wrote that are not in `assertions`; "
        "results say that they were left out, and a gate does not pass without them",
    ),
]
LeftOutCounts = Annotated[
    dict[str, int], Field(description="Checks that their imports left out, by type", default_factory=dict)
]
