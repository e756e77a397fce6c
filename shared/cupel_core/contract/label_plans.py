"""Plans of how many labels are needed."""

from typing import Annotated

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.domain.calibration.label_numbers import ColumnLabelPlan


class ColumnLabelPlanResponse(ColumnFields):
    labels: Annotated[int | None, read_from("plan.labels")]
    """Labels in all; null if no number is enough. Example: 140"""
    least_half_width: Annotated[float, read_from("plan.least_half_width")]
    """Half-width if all transcripts are labelled. Example: 0.03"""
    has_repeats: Annotated[bool, read_from("plan.has_repeats")]
    """True if scenarios need several labels. Example: false"""


class LabelPlanResponse(ResponseModel):
    columns: list[ColumnLabelPlanResponse]
    """Numbers by target, then by prompt."""

    @classmethod
    def of(cls, found: list[ColumnLabelPlan]) -> "LabelPlanResponse":
        return cls(
            columns=[
                ColumnLabelPlanResponse.from_value(each, **ColumnFields.fields_of_column(each.column)) for each in found
            ]
        )
