"""`python -m tools.docstrings`: refuse docstrings that are fragments instead of sentences.

A fragment begins with a word such as `Of` or `What` and has no main clause: "Of the last report." The file
`docstring_fragments.json` beside this module has the number of fragments of each source file that has any. The check
fails if a file has more than that, or fewer, so that the numbers only fall; `--update` writes lower numbers.
"""

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = ("shared/cupel_core", "functions", "cupel", "bench", "tools")
ALLOWED = Path(__file__).with_name("docstring_fragments.json")

_CONJUNCTIONS = "That Those What Which Where When While Whose How Why Whether If Because"
_PREPOSITIONS = "Of With Without As By For From To In On At After Before Until Since Than Beside Below Above Between"
_OTHERS = "Also Not Only Else And Or But Perhaps Otherwise Likewise"
HEADLESS = frozenset(f"{_CONJUNCTIONS} {_PREPOSITIONS} {_OTHERS}".split())
_AUXILIARIES = "is are was were has have had does do did can cannot could may might must shall should will would"
_AUXILIARY = re.compile(rf"\b({_AUXILIARIES.replace(' ', '|')})\b")
_VERB = re.compile(rf"{_AUXILIARY.pattern}|\b[a-z]+(?<!ss)(?<!us)(?<!is)s\b")
"""Verbs such as `returns` are found by their last letter, and with them nouns in the plural."""


class Docstring(NamedTuple):
    path: Path
    line: int
    text: str


def is_fragment(text: str) -> bool:
    """Return whether a docstring begins with a word of `HEADLESS` and its first sentence has no main clause.

    The main clause stands behind a comma, as in "After a crash, the run goes on", or has a second verb after a clause
    with `What` or `Which`, as in "What was paid is stored".
    """
    sentence = re.split(r"(?<=[.:;])\s", " ".join(text.split()))[0]
    first = re.match(r"[A-Za-z]+", sentence)
    if first is None or first[0] not in HEADLESS:
        return False
    _, comma, after = sentence.partition(", ")
    has_main_clause = bool(comma and _VERB.search(after))
    if first[0] in ("What", "Which"):
        has_main_clause = has_main_clause or len(_AUXILIARY.findall(sentence)) > 1
    return not has_main_clause


def docstrings_of(path: Path) -> Iterator[Docstring]:
    """Yield the docstrings of a module, its classes and functions, and of attributes: strings that stand alone."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield Docstring(path, node.lineno, node.value.value)


def fragments() -> dict[str, list[Docstring]]:
    """Return the fragments of each source file that has any, by its path."""
    found = {}
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            if own := [each for each in docstrings_of(path) if is_fragment(each.text)]:
                found[str(path.relative_to(ROOT))] = own
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the present numbers where they are lower")
    parser.add_argument("--list", metavar="PREFIX", help="print the fragments of the files whose path begins so")
    arguments = parser.parse_args()
    found = fragments()
    if arguments.list is not None:
        for file, own in found.items():
            if file.startswith(arguments.list):
                print(*(f"{file}:{each.line}: {each.text.strip().splitlines()[0]}" for each in own), sep="\n")
        return
    numbers = {file: len(own) for file, own in found.items()}
    allowed: dict[str, int] = json.loads(ALLOWED.read_text())
    if arguments.update:
        lower = {file: min(number, allowed.get(file, 0)) for file, number in numbers.items()}
        ALLOWED.write_text(json.dumps({file: number for file, number in lower.items() if number}, indent=1) + "\n")
        return
    problems = list(_problems(found, allowed))
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(bool(problems))


def _problems(found: dict[str, list[Docstring]], allowed: dict[str, int]) -> Iterator[str]:
    for file in sorted({*found, *allowed}):
        own, number = found.get(file, []), allowed.get(file, 0)
        if len(own) > number:
            lines = ", ".join(str(each.line) for each in own)
            count = f"{len(own)} fragments among its docstrings, {number} allowed"
            yield f"{file}: {count}: write sentences (lines {lines})"
        elif len(own) < number:
            yield f"{file}: only {len(own)} of {number} fragments are left: run `python -m tools.docstrings --update`"


if __name__ == "__main__":
    main()
