"""Decides which combinations of dimension levels a definition's scenarios are generated from.

A rule is `{"exclude": {"delay": 1, "mood": [4, 5]}}`, which leaves out combinations that match, or `{"when": {"delay":
1}, "only": {"mood": [1, 2]}}`, which leaves out combinations that match `when` but not `only`. A combination matches if
it has, for each named dimension, the score or one of the scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cupel_core.domain.text.templates import normalize_name

_FORMS = (frozenset({"exclude"}), frozenset({"only"}), frozenset({"when", "only"}))


def allows(rules: Sequence[Mapping[str, Any]], scores: Mapping[str, float]) -> bool:
    """Return whether scenarios are generated from a combination; `scores` are keyed by normalized dimension name."""
    return not any(_leaves_out(rule, scores) for rule in rules)


def rule_errors(rules: Sequence[Mapping[str, Any]], levels: Mapping[str, Sequence[float]]) -> Iterator[tuple[str, str]]:
    """Yield (field, message) of each error; `levels` are the scores of each dimension, by its normalized name."""
    for number, rule in enumerate(rules):
        field = f"matchingRules.{number}"
        if frozenset(rule) not in _FORMS:
            yield field, "must have either exclude, or only with an optional when"
            continue
        for part, pattern in rule.items():
            yield from _pattern_errors(f"{field}.{part}", pattern, levels)


def _leaves_out(rule: Mapping[str, Any], scores: Mapping[str, float]) -> bool:
    if "exclude" in rule:
        return _matches(rule["exclude"], scores)
    return _matches(rule.get("when", {}), scores) and not _matches(rule["only"], scores)


def _matches(pattern: Mapping[str, Any], scores: Mapping[str, float]) -> bool:
    return all(scores[normalize_name(name)] in _as_list(wanted) for name, wanted in pattern.items())


def _pattern_errors(field: str, pattern: Any, levels: Mapping[str, Sequence[float]]) -> Iterator[tuple[str, str]]:
    if not isinstance(pattern, Mapping) or not pattern:
        yield field, "must be an object of scores by dimension"
        return
    for name, wanted in pattern.items():
        known = levels.get(normalize_name(name))
        if known is None:
            yield f"{field}.{name}", "there is no dimension with this name"
        elif not _as_list(wanted) or not all(_is_score(one) and one in known for one in _as_list(wanted)):
            yield f"{field}.{name}", f"must be scores of this dimension: {', '.join(f'{score:g}' for score in known)}"


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _as_list(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]
