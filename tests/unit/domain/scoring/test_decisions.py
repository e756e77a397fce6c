from cupel_core.domain.scoring.decisions import excerpt


def test_an_excerpt_is_one_line_cut_at_a_word() -> None:
    assert excerpt("a\n  b") == "a b"
    assert excerpt("word " * 100).endswith("word …")
