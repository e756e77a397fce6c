from cupel_core.domain.text.storable import storable


def test_an_unpaired_surrogate_is_replaced() -> None:
    assert storable("a\ud800b") == "a?b"


def test_a_pair_of_surrogates_is_joined() -> None:
    assert storable("a\ud83d\ude00\ude00b") == "a😀?b"


def test_a_long_text_is_cut() -> None:
    assert storable("abcdef", 4) == "abc…"


def test_other_texts_are_unchanged() -> None:
    assert storable("ж\0 𝄞", 4) == "ж\0 𝄞"
