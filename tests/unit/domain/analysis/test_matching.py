import pytest

from cupel_core.domain.analysis.matching import MatchedBy, NotMatchable, SideScenario, match_scenarios, pair_columns
from tests.compared_sides import scenario, side


def pair_names(paired):
    return [([each.name for each in pair.baseline], [each.name for each in pair.comparison]) for pair in paired.pairs]


def test_scenarios_are_matched_by_id():
    matched = match_scenarios(
        [scenario("a", {None: 0}), scenario("b", {None: 1})], [scenario("b", {None: 0}), scenario("c", {None: 1})]
    )
    assert [each.id for each in matched.common] == ["b"]
    assert (matched.only_baseline, matched.only_comparison) == (1, 1)
    assert matched.common[0].cases == (((1,), (0,)),)


def test_without_a_shared_id_equal_dimension_scores_are_one_unit():
    before = [
        scenario("a", {None: 0}, {"x": 1}),
        scenario("b", {None: 1}, {"x": 1}),
        scenario("c", {None: 2}, {"x": 2}),
    ]
    matched = match_scenarios(before, [scenario("d", {None: 0}, {"x": 1})])
    assert matched.matched_by is MatchedBy.DIMENSIONS
    assert matched.common == [("a", "x 1", (((0, 1), (0,)),))]
    assert matched.only_baseline == 1


def test_scenarios_without_shared_ids_and_dimensions_are_not_matchable():
    with pytest.raises(NotMatchable):
        match_scenarios([scenario("a", {None: 0})], [scenario("b", {None: 0})])


def version(*scenarios: tuple[str, str, str]) -> list[SideScenario]:
    """The scenarios of a version: id, name and content; an empty name is not the author's."""
    return [
        SideScenario(scenario_id, name or scenario_id, {"difficulty": 1}, {None: number}, content, bool(name))
        for number, (scenario_id, name, content) in enumerate(scenarios)
    ]


@pytest.mark.parametrize(
    ("edited", "pairs"),
    [
        ([("d", "x", "1"), ("e", "y", "2"), ("f", "z", "3")], [("a", 0), ("b", 1), ("c", 2)]),
        ([("d", "new", "9"), ("e", "x", "1"), ("f", "y", "2"), ("g", "z", "3")], [("a", 1), ("b", 2), ("c", 3)]),
        ([("d", "x", "1"), ("e", "renamed", "2"), ("f", "z", "3")], [("a", 0), ("b", 1), ("c", 2)]),
        ([("d", "x", "1"), ("e", "y", "edited"), ("f", "z", "3")], [("a", 0), ("b", 1), ("c", 2)]),
        ([("d", "z", "3"), ("e", "x", "1")], [("a", 1), ("c", 0)]),
        ([("d", "y", "1"), ("e", "z", "2"), ("f", "new", "3")], [("a", 0), ("b", 1), ("c", 2)]),
        ([("d", "", "3"), ("e", "", "2")], [("b", 1), ("c", 0)]),
        ([("d", "x", "1"), ("e", "y", "1"), ("f", "w", "1")], [("a", 0), ("b", 1)]),
    ],
    ids=["replaced", "added", "renamed", "edited", "reordered", "names shifted", "unnamed", "repeated content"],
)
def test_without_a_shared_id_scenarios_are_matched_by_content_or_name(
    edited: list[tuple[str, str, str]], pairs: list[tuple[str, int]]
) -> None:
    matched = match_scenarios(version(("a", "x", "1"), ("b", "y", "2"), ("c", "z", "3")), version(*edited))
    assert matched.matched_by is MatchedBy.CONTENT_OR_NAME
    assert [(each.id, each.cases[0].comparison[0]) for each in matched.common] == pairs
    assert (matched.only_baseline, matched.only_comparison) == (3 - len(pairs), len(edited) - len(pairs))


def test_given_names_are_not_matched():
    matched = match_scenarios(version(("a", "", "1")), version(("a2", "a", "2")))
    assert matched.matched_by is MatchedBy.DIMENSIONS


def test_a_few_equal_names_do_not_outweigh_dimensions():
    before, after = version(("a", "x", "1"), ("b", "y", "2"), ("c", "z", "3")), version(("d", "x", "7"), ("e", "", "8"))
    assert match_scenarios(before, after).matched_by is MatchedBy.CONTENT_OR_NAME
    assert match_scenarios(before, [*after, *version(("f", "", "9"))]).matched_by is MatchedBy.DIMENSIONS


def test_personas_are_matched_by_id():
    matched = match_scenarios([scenario("a", {"p": 0, "q": 1})], [scenario("a", {"q": 0, "r": 1})])
    assert matched.common[0].cases == (((1,), (0,)),)


@pytest.mark.parametrize(
    ("baseline", "comparison", "pairs"),
    [
        (["m", "n"], ["m", "n"], [(["m"], ["m"]), (["n"], ["n"])]),
        (["m", "n"], ["m", "o"], [(["m"], ["m"]), (["n"], ["o"])]),
        (["m"], ["n"], [(["m"], ["n"])]),
        (["m · p"], ["m · q"], [(["m · p"], ["m · q"])]),
        (["m · p", "n · p"], ["m · q", "n · q"], [(["m · p"], ["m · q"]), (["n · p"], ["n · q"])]),
        (["m · p", "m · q"], ["n · p", "n · q"], [(["m · p"], ["n · p"]), (["m · q"], ["n · q"])]),
        (["m", "n"], ["o", "p"], [(["m", "n"], ["o", "p"])]),
        (["m", "n"], ["o"], [(["m", "n"], ["o"])]),
    ],
)
def test_columns_are_paired_by_what_they_share(baseline, comparison, pairs):
    paired = pair_columns(side({name: ["3"] for name in baseline}), side({name: ["3"] for name in comparison}, "run_b"))
    assert pair_names(paired) == pairs


def test_columns_that_are_left_over_are_listed():
    paired = pair_columns(side({"m": ["3"], "n": ["3"], "o": ["3"]}), side({"m": ["3"], "p": ["3"]}, "run_b"))
    assert pair_names(paired) == [(["m"], ["m"])]
    assert [each.name for each in paired.only_baseline] == ["n", "o"]
    assert [each.name for each in paired.only_comparison] == ["p"]


def test_a_pair_of_different_columns_is_substituted():
    paired = pair_columns(side({"m": ["3"], "n": ["3"]}), side({"m": ["3"], "o": ["3"]}, "run_b"))
    assert [pair.is_substituted for pair in paired.pairs] == [False, True]
