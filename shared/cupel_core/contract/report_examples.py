"""Examples of the fields of batches and reports, for the OpenAPI document."""

from typing import Any

REPORT_EXAMPLES: dict[str, Any] = {
    "AnswerFormatInput.xmlElements": ["order.item"],
    "Run.scale": False,
    "RunConfig.evaluators": {"goal": "active", "refusal": "active", "format": "no_format", "toxicity": "active"},
}
