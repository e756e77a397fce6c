"""Types of fields that several parts of a deep analysis have."""

from typing import Annotated

from pydantic import Field

ColumnNumbers = Annotated[list[int], Field(description="Positions in `columns` of the analysis")]
DimensionName = Annotated[str, Field(description="Name of the dimension")]
