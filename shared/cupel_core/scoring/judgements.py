"""The assertions whose answer comes from elsewhere, by their kind."""

from collections.abc import Awaitable, Callable, Mapping

from cupel_core.domain.assertions import Assertion
from cupel_core.judging.panel import Panel
from cupel_core.scoring import embedded, judged, outside
from cupel_core.scoring.evidence import Evidence
from cupel_core.scoring.outcome import Ledger, Outcome

type Judgement = Callable[[Assertion, Evidence, Panel, Ledger], Awaitable[Outcome]]

JUDGEMENTS: Mapping[str, Judgement] = {
    "llm-rubric": judged.llm_rubric,
    "g-eval": judged.g_eval,
    "factuality": judged.factuality,
    "similar": embedded.similar,
    "answer-relevance": embedded.answer_relevance,
    "webhook": lambda assertion, evidence, panel, _: outside.webhook(assertion, evidence, panel.allow_private),
}
