"""`python -m tools.sample_sentences`: print twenty docstrings and twenty sentences of the documents, to be read.

They are drawn by `random.Random(22)`: docstrings in the order of files and lines, sentences in the order of the
documents. `--root` names another checkout, so that two commits can be compared.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from tools.docstrings import ROOT, SOURCES, docstrings_of

SEED, COUNT = 22, 20
_BLOCKS = re.compile(r"^```.*?^```|^<!--.*?-->", re.MULTILINE | re.DOTALL)
_NO_PROSE = re.compile(r"^\s*(?:\||#|!\[)")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


def all_docstrings(root: Path) -> Iterator[str]:
    for source in sorted(SOURCES):
        for path in sorted((root / source).rglob("*.py")):
            for each in sorted(docstrings_of(path), key=lambda each: each.line):
                yield f"{path.relative_to(root)}:{each.line}: {' '.join(each.text.split())}"


def all_sentences(root: Path) -> Iterator[str]:
    for path in (root / "README.md", *sorted(root.glob("docs/*.md"))):
        for paragraph in paragraphs(path.read_text()):
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[\"])", paragraph):
                yield f"{path.relative_to(root)}: {sentence}"


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs and items of a document, each on one line, without code, tables, headings and pictures."""
    lines: list[str] = []
    for line in [*_BLOCKS.sub("", text).splitlines(), ""]:
        is_prose = line.strip() and not _NO_PROSE.match(line)
        if lines and (not is_prose or _ITEM.match(line)):
            yield " ".join(lines)
            lines = []
        if is_prose:
            lines.append(_ITEM.sub("", line).strip())


def sample(texts: Sequence[str]) -> list[str]:
    return Random(SEED).sample(texts, COUNT)  # noqa: S311 - not for cryptography


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to read; by default this one")
    root = parser.parse_args().root.resolve()
    for heading, texts in (("docstrings", [*all_docstrings(root)]), ("sentences", [*all_sentences(root)])):
        print(f"{COUNT} of {len(texts):,} {heading}:", *sample(texts), sep="\n", end="\n\n")


if __name__ == "__main__":
    main()
