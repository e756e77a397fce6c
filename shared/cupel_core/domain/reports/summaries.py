"""What is kept of a summarizer's answer: only what the shown transcripts support, and a prompt that could be used."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff

from cupel_core.deferred import dataclass
from cupel_core.domain.text.templates import normalize_name, placeholder_names

UNAVAILABLE = "information unavailable"
"""What the data do not say."""
MAX_SUMMARY_WORDS, MAX_RATIONALE_WORDS = 150, 100
MAX_SHOWN_TOKENS = 24_000
"""Of what the summarizer is shown, by our count."""
MAX_OUTPUT_TOKENS = 2_000
MAX_DIFF_LENGTH = 20_000
_MAX_DIFF_LINES = 2_000
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Quotation:
    transcript_id: str
    quote: str


@dataclass(frozen=True)
class Finding:
    title: str
    description: str
    tags: tuple[str, ...]
    evidence: tuple[Quotation, ...]


@dataclass(frozen=True)
class CheckedFindings:
    findings: tuple[Finding, ...]
    dropped_quotes: int
    """Quotes that do not occur in the transcript that they name, or name one that was not shown."""


def word_count(text: str) -> int:
    return len(text.split())


def check_findings(findings: Sequence[Finding], shown: Mapping[str, str]) -> CheckedFindings:
    """The findings with their true quotes; one without any is dropped. `shown` is the text of each transcript by id."""
    texts = {transcript_id: _normalized(text) for transcript_id, text in shown.items()}
    kept, dropped = list[Finding](), 0
    for finding in findings:
        evidence = tuple(each for each in finding.evidence if _occurs(each, texts))
        dropped += len(finding.evidence) - len(evidence)
        if evidence:
            kept.append(Finding(finding.title, finding.description, finding.tags, evidence))
    return CheckedFindings(tuple(kept), dropped)


def _occurs(evidence: Quotation, texts: Mapping[str, str]) -> bool:
    quote = _normalized(evidence.quote)
    return bool(quote) and quote in texts.get(evidence.transcript_id, "")


def _normalized(text: str) -> str:
    """Models change white space and case of what they quote, and nothing else is forgiven."""
    return _SPACE.sub(" ", text).strip().casefold()


def revised_prompt_issue(original: str | None, revised: str) -> str | None:
    """Why a revised prompt cannot be offered; None if it can."""
    if original is None:
        return "there is no system prompt to revise"
    if revised.strip() == UNAVAILABLE:
        return "the summarizer offers none"
    if revised.strip() == original.strip():
        return "it is the same as before"
    if len(revised) > 2 * len(original) + 2_000:
        return "it is more than twice as long"
    lost = sorted(_placeholders(original) - _placeholders(revised))
    return f"it lacks the placeholders {', '.join(f'[{name}]' for name in lost)}" if lost else None


def _placeholders(text: str) -> set[str]:
    return {normalize_name(name) for name in placeholder_names(text)}


def prompt_diff(original: str, revised: str) -> str:
    """A unified diff, of at most MAX_DIFF_LENGTH characters; of very many lines, none."""
    before, after = original.splitlines(), revised.splitlines()
    if max(len(before), len(after)) > _MAX_DIFF_LINES:
        return ""
    return "\n".join(_diff_lines(before, after))[:MAX_DIFF_LENGTH]


def _diff_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    return unified_diff(before, after, "system prompt", "revised", lineterm="")
