"""Checks a summarizer's answer, and retains only what the shown transcripts support and a usable prompt."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff

from cupel_core.base.deferred import dataclass
from cupel_core.domain.text.templates import normalize_name, placeholder_names

UNAVAILABLE = "information unavailable"
"""The text for what the data do not say."""
MAX_SUMMARY_WORDS, MAX_RATIONALE_WORDS = 150, 100
MAX_SHOWN_TOKENS = 24_000
"""The summarizer is shown at most this many tokens, as estimated here."""
MAX_OUTPUT_TOKENS = 2_000
MAX_DIFF_LENGTH = 20_000
_MAX_DIFF_LINES = 2_000
MAX_NAMED_PLACEHOLDERS = 20
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
    """Number of quotes that do not occur in the transcript that they name, or name one that was not shown."""


def word_count(text: str) -> int:
    return len(text.split())


def check_findings(findings: Sequence[Finding], shown: Mapping[str, Sequence[str]]) -> CheckedFindings:
    """Return the findings with their true quotes; a finding without any is dropped. `shown` has the texts of each
    transcript by id, one of which must contain the quote."""
    texts = {transcript_id: tuple(map(_normalized, each)) for transcript_id, each in shown.items()}
    kept, dropped = list[Finding](), 0
    for finding in findings:
        evidence = tuple(each for each in finding.evidence if _occurs(each, texts))
        dropped += len(finding.evidence) - len(evidence)
        if evidence:
            kept.append(Finding(finding.title, finding.description, finding.tags, evidence))
    return CheckedFindings(tuple(kept), dropped)


def _occurs(evidence: Quotation, texts: Mapping[str, Sequence[str]]) -> bool:
    quote = _normalized(evidence.quote)
    return bool(quote) and any(quote in text for text in texts.get(evidence.transcript_id, ()))


def _normalized(text: str) -> str:
    """Normalize white space and case, which models change in quotes; no other change is tolerated."""
    return _SPACE.sub(" ", text).strip().casefold()


def revised_prompt_issue(original: str | None, revised: str) -> str | None:
    if original is None:
        return "there is no system prompt to revise"
    if _is_unavailable(revised):
        return "the summarizer offers none"
    if revised.strip() == original.strip():
        return "it is the same as before"
    if len(revised) > _max_length(original):
        return "it is more than twice as long"
    lost = sorted(_placeholders(original) - _placeholders(revised))
    return f"it lacks the placeholders {_named(lost)}" if lost else None


def revised_prompt_repair(original: str | None, revised: str) -> str | None:
    """Return the request for a usable revised prompt; None if this one is usable, or none is to be expected."""
    issue = revised_prompt_issue(original, revised)
    if original is None or issue is None or _is_unavailable(revised):
        return None
    return (
        f'The "revisedPrompt" cannot be used: {issue}. Answer with the whole object again. Its "revisedPrompt" must '
        "keep every [placeholder] of the system prompt, differ from the system prompt, and have at most "
        f'{_max_length(original)} characters; or it is exactly "{UNAVAILABLE}" if nothing should be changed.'
    )


def _is_unavailable(text: str) -> bool:
    return text.strip() == UNAVAILABLE


def _max_length(original: str) -> int:
    return 2 * len(original) + 2_000


def _named(placeholders: Sequence[str]) -> str:
    shown = ", ".join(f"[{name}]" for name in placeholders[:MAX_NAMED_PLACEHOLDERS])
    more = len(placeholders) - MAX_NAMED_PLACEHOLDERS
    return f"{shown} and {more} more" if more > 0 else shown


def _placeholders(text: str) -> set[str]:
    return {normalize_name(name) for name in placeholder_names(text)}


def prompt_diff(original: str, revised: str) -> str:
    """Return a unified diff of at most MAX_DIFF_LENGTH characters; it is empty for very many lines."""
    before, after = original.splitlines(), revised.splitlines()
    if max(len(before), len(after)) > _MAX_DIFF_LINES:
        return ""
    return "\n".join(_diff_lines(before, after))[:MAX_DIFF_LENGTH]


def _diff_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    return unified_diff(before, after, "system prompt", "revised", lineterm="")
