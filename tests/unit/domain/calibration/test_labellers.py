"""Labels of several people."""

import pytest

from cupel_core.domain.calibration.labellers import (
    PersonLabel,
    labeller_agreement,
    majority_label,
)


def label(transcript: str, labeller: str, value: bool | None, is_first_pass: bool = True) -> PersonLabel:
    return PersonLabel(transcript, transcript, labeller, value, is_first_pass)


@pytest.mark.parametrize(
    ("labels", "majority"),
    [([True], True), ([True, False], None), ([True, False, False], False), ([None, True], True), ([], None)],
)
def test_the_majority_decides_and_a_tie_does_not(labels: list[bool | None], majority: bool | None) -> None:
    assert majority_label(labels) is majority


def test_the_ceiling_is_the_agreement_of_first_passes() -> None:
    labels = [label(str(n), "ann", n % 2 == 0) for n in range(10)]
    labels += [label(str(n), "bob", n % 2 == 0 if n < 8 else n % 2 == 1) for n in range(10)]
    labels += [label("8", "cyd", False, is_first_pass=False), label("20", "ann", True)]
    found = labeller_agreement(labels)
    assert found.transcripts == 10
    assert found.ceiling is not None
    assert found.ceiling.share == pytest.approx(0.8)
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.transcripts, pair.agreement) == ("ann", "bob", 10, 0.8)
    assert pair.kappa == pytest.approx(0.6)
    assert pair.kappa_interval is not None


def test_three_first_passes_are_three_pairs_of_one_transcript() -> None:
    labels = [label("t", "ann", True), label("t", "bob", True), label("t", "cyd", False)]
    found = labeller_agreement(labels)
    assert (found.transcripts, len(found.pairs)) == (1, 3)
    assert found.ceiling is not None
    assert found.ceiling.share == pytest.approx(1 / 3)


def test_single_labels_have_no_ceiling() -> None:
    found = labeller_agreement([label("t1", "ann", True), label("t2", "bob", None), label("t2", "ann", True)])
    assert (found.transcripts, found.ceiling, found.pairs) == (0, None, ())


def test_a_crowd_is_compared_within_limits() -> None:
    """Sixty people on each transcript would be 1,770 pairs, each of which takes a bootstrap."""
    labels = [
        PersonLabel(f"t{transcript}", f"s{transcript}", f"p{(person + transcript) % 60:02}", label=True)
        for transcript in range(40)
        for person in range(60)
    ]
    found = labeller_agreement(labels)
    assert len(found.pairs) == 20
    assert found.transcripts == 40
