"""What is kept of a summarizer's answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.reports.samples import SampleCandidate, rank_of, summary_order
from cupel_core.domain.reports.summaries import (
    UNAVAILABLE,
    Finding,
    Quotation,
    check_findings,
    prompt_diff,
    revised_prompt_issue,
    revised_prompt_repair,
)

SHOWN = {"run_1-7": ["Refund?", "I cannot help  with that."], "run_1-8": ["Sure."]}
ORIGINAL = "You are [name]. Answer about [Topic]."


def finding(*evidence: tuple[str, str]) -> Finding:
    return Finding("t", "d", (), tuple(Quotation(*each) for each in evidence))


def test_a_quote_may_differ_in_white_space_and_case_only() -> None:
    checked = check_findings([finding(("run_1-7", "i cannot help with\nTHAT."))], SHOWN)
    assert (len(checked.findings), checked.dropped_quotes) == (1, 0)


@pytest.mark.parametrize(
    "evidence",
    [
        ("run_1-7", "I can not help with that"),
        ("run_1-8", "I cannot help with that."),
        ("run_1-9", "Sure."),
        ("run_1-8", "   "),
        ("run_1-7", "Refund? I cannot help with that."),
    ],
)
def test_a_quote_that_is_not_true_is_dropped_with_its_finding(evidence: tuple[str, str]) -> None:
    checked = check_findings([finding(evidence)], SHOWN)
    assert (checked.findings, checked.dropped_quotes) == ((), 1)


def test_true_evidence_is_kept_beside_false_one() -> None:
    [kept] = check_findings([finding(("run_1-8", "Sure."), ("run_1-8", "Never."))], SHOWN).findings
    assert [each.quote for each in kept.evidence] == ["Sure."]


@pytest.mark.parametrize(
    ("revised", "why"),
    [
        ("You are [name]. Be brief about [topic].", None),
        ("You are [NAME]. Answer about it.", "it lacks the placeholders [topic]"),
        (f"  {ORIGINAL}\n", "it is the same as before"),
        (UNAVAILABLE, "the summarizer offers none"),
        (f"{ORIGINAL}{'x' * 3_000}", "it is more than twice as long"),
    ],
)
def test_a_revised_prompt_is_usable_or_not_offered(revised: str, why: str | None) -> None:
    assert revised_prompt_issue(ORIGINAL, revised) == why


def test_without_a_system_prompt_there_is_nothing_to_revise() -> None:
    assert revised_prompt_issue(None, "Be brief.") == "there is no system prompt to revise"


@pytest.mark.parametrize(
    ("revised", "named"),
    [
        ("You are [NAME].", "it lacks the placeholders [topic]"),
        (ORIGINAL, "it is the same as before"),
        (f"{ORIGINAL}{'x' * 3_000}", f"at most {2 * len(ORIGINAL) + 2_000} characters"),
    ],
)
def test_a_repair_is_requested_by_what_is_wrong(revised: str, named: str) -> None:
    assert named in (revised_prompt_repair(ORIGINAL, revised) or "")


@pytest.mark.parametrize(
    ("original", "revised"),
    [(ORIGINAL, f"{ORIGINAL} Be brief."), (ORIGINAL, f" {UNAVAILABLE}\n"), (None, "Be brief.")],
)
def test_no_repair_is_requested_where_none_can_help(original: str | None, revised: str) -> None:
    assert revised_prompt_repair(original, revised) is None


def test_of_many_missing_placeholders_the_first_are_named() -> None:
    original = "".join(f"[name {n:03}]" for n in range(500))
    assert (revised_prompt_issue(original, "x") or "").endswith("[name 018], [name 019] and 480 more")


def test_a_revised_prompt_of_the_greatest_length_is_offered() -> None:
    revised = ORIGINAL + "x" * (len(ORIGINAL) + 2_000)
    assert revised_prompt_issue(ORIGINAL, revised) is None
    assert revised_prompt_issue(ORIGINAL, f"{revised}x") == "it is more than twice as long"


def test_the_diff_shows_what_changed() -> None:
    diff = prompt_diff("Be kind.\nAnswer.", "Be kind.\nAnswer briefly.")
    assert diff.splitlines()[:2] == ["--- system prompt", "+++ revised"]
    assert diff.splitlines()[-2:] == ["-Answer.", "+Answer briefly."]


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_have_a_bounded_diff(first: str, second: str) -> None:
    assert len(prompt_diff(first, second * 200)) <= 20_000


def candidate(index: int, scenario: str = "s") -> SampleCandidate:
    return SampleCandidate(index, 0.0, 0, scenario, None, rank_of(1, index))


def test_three_failed_conversations_are_shown_for_each_that_passed() -> None:
    pools = {"A": [candidate(n) for n in range(10)], "B": [candidate(n) for n in range(10, 14)]}
    order = summary_order(["A", "B"], pools, [candidate(n) for n in range(50, 60)], 8)
    assert [each.probe_index >= 50 for each in order] == [False, False, False, True] * 2
    failed = [each.probe_index for each in order if each.probe_index < 50]
    assert [index < 10 for index in failed] == [True, False] * 3


def test_scenarios_that_were_not_shown_come_first() -> None:
    pools = {"A": [candidate(1, "a"), candidate(2, "a"), candidate(3, "b"), candidate(4, "c")]}
    order = summary_order(["A"], pools, [], 3)
    assert {each.scenario for each in order} == {"a", "b", "c"}


@pytest.mark.parametrize("tags", [[], ["A"]])
def test_without_failures_only_passed_ones_are_shown(tags: list[str]) -> None:
    order = summary_order(tags, {}, [candidate(n) for n in range(9)], 8)
    assert len(order) == 2


@given(st.lists(st.integers(0, 200), unique=True), st.lists(st.integers(201, 300), unique=True), st.integers(1, 30))
def test_the_order_is_repeatable_and_bounded(failed: list[int], passed: list[int], count: int) -> None:
    def ordered() -> list[SampleCandidate]:
        return summary_order(["A"], {"A": list(map(candidate, failed))}, list(map(candidate, passed)), count)

    assert ordered() == ordered()
    assert len(ordered()) == len({each.probe_index for each in ordered()}) <= count
