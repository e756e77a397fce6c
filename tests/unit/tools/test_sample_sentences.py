"""The draw of docstrings and sentences for readers."""

from pathlib import Path

from tools.sample_sentences import COUNT, all_docstrings, all_sentences, paragraphs, sample

PAGE = """# Title

First sentence. A second one
goes on here! `code` begins the third.

<!-- not run: a comment. -->
```sh
cupel runs
```

- An item. It has two sentences.
- Another item.

| a | table. Row |
|---|---|
![A picture. With text](picture.svg)
"""


def test_paragraphs_and_items_are_prose_alone() -> None:
    assert list(paragraphs(PAGE)) == [
        "First sentence. A second one goes on here! `code` begins the third.",
        "An item. It has two sentences.",
        "Another item.",
    ]


def test_texts_are_in_the_order_of_files_and_lines(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(PAGE)
    (tmp_path / "docs/a.md").write_text("Last.\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/b.py").write_text('"""Module."""\nX = 1\n"""A constant\n\nof two lines."""\n')
    (tmp_path / "tools/a.py").write_text('def f():\n    """Function."""\n')
    assert list(all_docstrings(tmp_path)) == [
        "tools/a.py:2: Function.",
        "tools/b.py:1: Module.",
        "tools/b.py:3: A constant of two lines.",
    ]
    assert list(all_sentences(tmp_path)) == [
        "README.md: First sentence.",
        "README.md: A second one goes on here!",
        "README.md: `code` begins the third.",
        "README.md: An item.",
        "README.md: It has two sentences.",
        "README.md: Another item.",
        "docs/a.md: Last.",
    ]


def test_the_draw_is_the_same_for_the_same_texts() -> None:
    texts = [str(number) for number in range(100)]
    assert sample(texts) == sample(texts)
    assert len({*sample(texts)} & {*texts}) == COUNT
