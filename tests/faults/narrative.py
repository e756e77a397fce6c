"""What a scripted model writes about a deep analysis."""

from cupel_core.domain.analysis.narratives import UNAVAILABLE, NarrativeTopic

NARRATOR = "custom/narrator"
HEADLINE = "The targets answer alike."
REPLY = {
    "headline": HEADLINE,
    "findings": [{"topic": topic, "text": UNAVAILABLE, "facts": []} for topic in NarrativeTopic],
    "limitations": [],
    "nextSteps": [],
}
