"""How the expected answers of a dataset become assertions: `SCORERS` lists what `--scorer` may be."""

from collections.abc import Callable, Mapping

from cupel_core.domain.definitions.datasets import DatasetScorer
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.text.patterns import MAX_PATTERN_LENGTH
from cupel_core.imports.json_documents import escape_placeholders
from cupel_core.imports.samples import Sample

type AnswerComparison = Callable[[list[str], Sample], tuple[Assertion, ...]]
"""The assertions for one or several expected answers, of which one must be given."""

_MAX_END_LENGTH = 450
"""Of a target that answers end with; its pattern is at most twice as long."""
_LONG_ANSWER = 100


def target_assertions(targets: list[str], sample: Sample) -> tuple[Assertion, ...]:
    """The assertions for the expected answers, as the sample's scorer compares; none without an expected answer."""
    if not targets:
        return ()
    if sample.scorer is None and all(len(target) > _LONG_ANSWER for target in targets):
        why = f"it has more than {_LONG_ANSWER} characters, which an answer rarely contains word for word; with "
        sample.notes.change(sample.where, "expected answer", f"{why}--scorer factuality, a model compares")
    return SCORERS[sample.scorer or DatasetScorer.INCLUDES](targets, sample)


def any_of(kind: str, texts: list[str]) -> tuple[Assertion, ...]:
    """One assertion for each text, of which one must pass."""
    return _one_of(tuple(Assertion(kind, value=escape_placeholders(text)) for text in texts))


def _includes(targets: list[str], sample: Sample) -> tuple[Assertion, ...]:  # noqa: ARG001 - the shape of a comparison
    return (Assertion("icontains-any", value=escape_placeholders(targets)),)


def _exact(targets: list[str], sample: Sample) -> tuple[Assertion, ...]:  # noqa: ARG001 - the shape of a comparison
    return any_of("equals", targets)


def _factuality(targets: list[str], sample: Sample) -> tuple[Assertion, ...]:  # noqa: ARG001 - the shape of a comparison
    return any_of("factuality", targets)


def _match(targets: list[str], sample: Sample) -> tuple[Assertion, ...]:
    """The end of the answer, in any case and before punctuation."""
    pattern = _end_pattern("|".join(map(_escaped, targets)))
    if len(pattern) <= MAX_PATTERN_LENGTH:
        return (Assertion("regex", value=pattern),)
    if any(len(target) > _MAX_END_LENGTH for target in targets):
        why = f"only the last {_MAX_END_LENGTH} characters are compared, because patterns have at most "
        sample.notes.change(sample.where, "target", f"{why}{MAX_PATTERN_LENGTH:,}")
    patterns = [_end_pattern(_escaped(target[-_MAX_END_LENGTH:])) for target in targets]
    return _one_of(tuple(Assertion("regex", value=pattern) for pattern in patterns))


SCORERS: Mapping[DatasetScorer, AnswerComparison] = {
    DatasetScorer.INCLUDES: _includes,
    DatasetScorer.MATCH: _match,
    DatasetScorer.EXACT: _exact,
    DatasetScorer.FACTUALITY: _factuality,
}


def _one_of(parts: tuple[Assertion, ...]) -> tuple[Assertion, ...]:
    """Assertions of which one must pass: a set with the score of one passed assertion as its threshold."""
    if len(parts) < 2:
        return parts
    return (Assertion("assert-set", threshold=1 / len(parts), parts=parts),)


def _end_pattern(escaped: str) -> str:
    return rf"(?i)(?:{escaped})[\s.!?,;:'\"*)]*$"


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in r"\^$.|?*+()[]{}/" else char for char in text)
