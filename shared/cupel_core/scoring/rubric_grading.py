"""Interprets a judge's `pass` and `score` for an `llm-rubric`, on the scale of its author's prompt.

It follows promptfoo: `pass` and the threshold must both hold; a missing score is that of the pass; and with a prompt of
the author's own, a missing `pass` is true, so that only the threshold can fail such an answer. It differs where
promptfoo passes an answer that nothing says is good: a reply with neither, and Cupel's own prompt without a `pass`.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.scoring.assertion_rules import RUBRIC_PROMPT, RUBRIC_RANGE
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.scoring.grading.reply_values import number_on, required
from cupel_core.scoring.texts import threshold_of

_NUMBER = r"(\d{1,4}(?:\.\d+)?)"
_SCALE = re.compile(rf"{_NUMBER}\s*(?:-|–|—|\.\.\.?|to|and|through)\s*{_NUMBER}(?![\d.]*\d)", re.IGNORECASE)
_OUT_OF = re.compile(rf"out\s+of\s+{_NUMBER}", re.IGNORECASE)
_ABOUT_SCORES = re.compile(r"scor|scale|\brat(?:e|ing)|grade|points?\b", re.IGNORECASE)
_UNIT_OF_SCORES = re.compile(r"\W*(?:scale|points?)\b", re.IGNORECASE)
_UNIT_OF_TEXTS = re.compile(r"\W*(?:short |brief )?(?:sentence|word|paragraph|line|bullet|example|item)", re.IGNORECASE)
_REACH = 60
"""A scale begins at most this many characters after the word that says that it is one."""


class RubricVerdict(NamedTuple):
    passed: bool
    score: float
    """The score is from 0 to 1."""


@dataclass(frozen=True)
class RubricGrading:
    low: float
    high: float
    threshold: float | None
    """The minimum score to pass, on the same scale; None if the assertion has none."""
    is_own_prompt: bool
    is_scale_known: bool

    @classmethod
    def of(cls, assertion: Assertion) -> "RubricGrading":
        config = assertion.config or {}
        scale = stated_scale(config) if RUBRIC_PROMPT in config else (0.0, 1.0)
        low, high = scale or (0.0, 1.0)
        threshold = None if assertion.threshold is None else threshold_of(assertion)
        return cls(low, high, threshold, RUBRIC_PROMPT in config, scale is not None)

    def verdict(self, passes: bool | None, written: Any) -> RubricVerdict:
        """Return the verdict of a judge's reply. Raises ValueError if its values are no verdict."""
        score = self._score(written, passes)
        if passes is None and score is None:
            raise ValueError("pass: Field required; score: Field required")
        if passes is None and self.threshold is None:
            passes = True if self.is_own_prompt else required("pass", passes)
        if score is None:
            return RubricVerdict(bool(passes), float(bool(passes)))
        passed = passes is not False and (self.threshold is None or score >= self.threshold)
        return RubricVerdict(passed, self._share(score, passed))

    def explain(self, written: Any, reason: str) -> str:
        """Return the reason, with the score as the judge wrote it if its scale is not from 0 to 1."""
        score = number_on(self.low, self.high)(written)
        if score is None or ((self.low, self.high) == (0, 1) and score <= 1):
            return reason
        scale = f" of {self.low:g} to {self.high:g}" if self.is_scale_known else ""
        return f"{score:g}{scale}: {reason}"

    def _score(self, written: Any, passes: bool | None) -> float | None:
        try:
            score = number_on(self.low, self.high)(written)
        except ValueError as error:
            raise ValueError(f"score: {error}") from None
        if score is None or self.low <= score <= self.high:
            return score
        if self.is_scale_known:
            raise ValueError(f"score: should be from {self.low:g} to {self.high:g}")
        if score < 0 or not self._is_decided_without_scale(passes):
            raise ValueError(f"score: the scale of {score:g} is unknown; config.{RUBRIC_RANGE} states it")
        return score

    def _is_decided_without_scale(self, passes: bool | None) -> bool:
        return passes is not None if self.threshold is None else self.threshold > 1

    def _share(self, score: float, passed: bool) -> float:
        """Return the score from 0 to 1; on an unknown scale, it is 1 if the answer passed, and otherwise 0."""
        if not self.is_scale_known and (score > self.high or (self.threshold or 0) > 1):
            return float(passed)
        return (score - self.low) / (self.high - self.low)


def stated_scale(config: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the scale that the configuration states, or the only one that the prompt states; None if there is none."""
    if RUBRIC_RANGE in config:
        low, high = config[RUBRIC_RANGE]
        return float(low), float(high)
    prompt = config[RUBRIC_PROMPT]
    text = prompt if isinstance(prompt, str) else "\n".join(each["content"] for each in prompt)
    scales = {scale for scale in _scales_in(text) if scale[0] < scale[1]}
    return scales.pop() if len(scales) == 1 else None


def _scales_in(text: str) -> list[tuple[float, float]]:
    found = [(match, float(match[1]), float(match[2])) for match in _SCALE.finditer(text)]
    found += [(match, 0.0, float(match[1])) for match in _OUT_OF.finditer(text)]
    return [(low, high) for match, low, high in found if _is_about_scores(text, match)]


def _is_about_scores(text: str, match: re.Match[str]) -> bool:
    if _UNIT_OF_TEXTS.match(text, match.end()):
        return False
    before = _ABOUT_SCORES.search(text, max(0, match.start() - _REACH), match.start())
    return before is not None or _UNIT_OF_SCORES.match(text, match.end()) is not None
