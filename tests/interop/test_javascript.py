"""Node.js and Cupel evaluate regular expressions, transforms and JSON in the same way."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from cupel_core.domain.scoring.output_transforms import transform_error
from cupel_core.domain.text.javascript_patterns import javascript_pattern_error
from cupel_core.domain.text.javascript_values import parse_json, stringify, to_string, well_formed, words
from cupel_core.scoring.check_result import TransformFailed
from cupel_core.scoring.pattern_search import compile_javascript
from cupel_core.scoring.transforms import transformed
from tests.interop import tools

TEXTS = [
    "",
    "a b",
    "a\u00a0b",
    "a\u202fb\u3000c",
    "\ufeffyes\ufeff",
    "one\ntwo\r\nthree",
    "one\u2028two\u2029three\u0085four",
    "\u041c\u041e\u0421\u041a\u0412\u0410",
    "\u00c9cole \u00e9t\u00e9 STRASSE stra\u00dfe \u1e9e",
    "\u017fign \u212aelvin \u0130 \u0131 \u01c5 \u03a3\u03c3\u03c2 \u00b5\u03bc",
    "\U0001f600 \U00010400\U00010428",
    "id: 42, id: \u0664\u0662",
    "2024-11-28 and 2025-01-02",
    "aaa bb {1} {,2} a{2} ]} \\ / - ^ $ $5.00",
    "foo_bar foo-bar fo\u00f6 bar\tbaz\x0b\x0c\x00\x08",
    "abcabc xyx 'quoted' \"q\" p{L} k<y>",
    "AbC \uac00\u0301 e\u0301 \u01f0",
]
PATTERNS = [
    r"a\sb",
    r"^\S+$",
    r"\s+",
    r"[\s]b",
    r"[^\s]+",
    r"[^\S]+",
    r"[\S\n]+",
    r"\bbar\b",
    r"\Bo",
    r"\w+",
    r"[\w-]+",
    r"[^\w]+",
    r"[\W]+",
    r"\d+",
    r"[^\d]+",
    r"^.+$",
    r".",
    r"^two",
    r"one$",
    r"^\w+$",
    r"[\u00c0-\u017f]+",
    r"\u00e9",
    r"\x41|\x61",
    "\u043c\u043e\u0441\u043a\u0432\u0430",
    "\u00e9",
    "stra\u00dfe",
    "[\u03c3]+",
    "\u00b5",
    "k",
    "s",
    "[a-z]+",
    "[^a-z]+",
    "[\u0430-\u044f]+",
    "\u0131|\u0130",
    "\U0001f600",
    "[\U0001f600]",
    "\U00010428",
    r"(\d{4})-(\d\d)",
    r"(?<year>\d{4})-(?<month>\d\d)",
    r"(?<y>[a-c])\k<y>",
    r"(a)|(b)",
    r"(?:(a)|(b))\2c?",
    r"(abc)\1",
    r"\1(a)",
    r"(?=a)a(?!b)",
    r"(?<=\d)-(?<!x)",
    r"a{2}",
    r"a{2,}",
    r"a{,2}",
    r"{,2}",
    r"a+?",
    r"[]",
    r"[^]",
    r"[[]",
    r"[\]}]",
    r"]",
    r"}",
    r"[a\-z]",
    r"[\b]",
    r"\0",
    r"\cI",
    r"[\w-a]",
    r"\/|\-",
    r"\$\d",
    r"\p{L}",
    r"\p{Lu}\p{Ll}*",
    r"[\p{L}\p{N}]+",
    r"\P{L}+",
    r"\p{Script=Cyrillic}+",
    r"\u{1f600}",
    r"\ud83d\ude00",
    r"\ud83d",
    r"(?i:ABC)x?",
    r"^",
    r"$",
    r"x*",
    r"(?:)",
    r"a|",
    r"''|\"",
    r"[&&||~~--]",
    r"\k<y>",
    r"\8|\07",
]
FLAGS = ["", "i", "m", "s", "im", "u", "iu", "ims"]
INVALID = [
    r"(",
    r")",
    r"[a",
    r"a**",
    r"*a",
    r"a{2}{3}",
    r"{2}",
    r"a++",
    r"(?P<a>b)",
    r"[z-a]",
    r"a{3,2}",
    r"(?<a>x)(?<a>y)",
    "\\",
    r"(?<=a)*",
    r"(?#x)",
    r"(?>a)",
    r"\b+",
    r"(?a)",
]
INVALID_WITH_U = [r"\-", r"{", r"}", r"]", r"a{,2}", r"\8", r"\p{Nope}", r"\u{110000}", r"[\w-a]", r"(?=a)*", r"\cé"]


def is_compared(pattern: str, flags: str) -> bool:
    """For a property that ignores case, the `regex` module also finds letters that are equal to several others."""
    return "\\p{Lu}" not in pattern or flags != "iu"


def test_expressions_match_the_same(tmp_path: Path) -> None:
    cases = [case for case in product(PATTERNS, FLAGS, TEXTS) if is_compared(*case[:2])]
    expressions = [
        (f"(r => [...output.matchAll(r)].map(m => [m.index, ...m]))(new RegExp({json.dumps(p)}, 'g{f}'))", text)
        for p, f, text in cases
    ]
    differences = []
    for case, returned in zip(cases, tools.javascript(tmp_path, expressions), strict=True):
        pattern, flags, text = case
        error = javascript_pattern_error(pattern, flags)
        if "error" in returned or error:
            if ("error" in returned) != bool(error):
                differences.append((case, returned, error))
            continue
        compiled = compile_javascript(pattern, flags)
        subject = compiled.subject(text)
        found = []
        for match in compiled.compiled.finditer(subject):
            index = len(subject[: match.start()].encode("utf-16-le", "surrogatepass")) // 2
            found.append([index, *(group and plain(group) for group in (match[0], *match.groups()))])
        if found != [[index, *map(plain, groups)] for index, *groups in returned["value"]]:
            differences.append((case, returned["value"], found))
    assert differences == []


def plain(text: Any) -> Any:
    return text.encode("utf-16-le", "surrogatepass") if isinstance(text, str) and text else text


def test_what_javascript_refuses_is_refused(tmp_path: Path) -> None:
    cases = [*((pattern, "") for pattern in INVALID), *((pattern, "u") for pattern in (*INVALID, *INVALID_WITH_U))]
    returned = tools.javascript(tmp_path, [(f"new RegExp({json.dumps(p)}, '{f}') && 1", "") for p, f in cases])
    assert [case for case, each in zip(cases, returned, strict=True) if "error" not in each] == []
    assert [case for case in cases if javascript_pattern_error(*case) is None] == []


TRANSFORMS = [
    "output.trim()",
    "output.trimStart().trimEnd().length",
    r"output.split(/\s+/)",
    r"output.split(/(\d)/)",
    r"output.split(/x*/)",
    "output.split('')",
    "output.split(' ')",
    r"output.match(/(?<y>\d{4})-(\d\d)/).groups.y",
    r"output.match(/\w+/g).join('|')",
    r"output.match(/(z)?a/)[1]",
    r"output.match(/[^a]/u)[0]",
    "output.replace('a', '[$&$$$1]')",
    r"output.replace(/(\w)(\w)/g, '$2$1$3$10')",
    r"output.replace(/x*/g, '-')",
    r"output.replace(/(?<q>o)/g, '<$<q>>')",
    'output.replace(/b/, "$`-$\'")',
    "output.replaceAll('o', '$&$&')",
    r"output.replaceAll(/\s/g, '')",
    "output.slice(1, -1)",
    "output.substring(3, 1)",
    "output.at(-1)",
    "output[1]",
    "output.length",
    "output.toUpperCase().toLowerCase()",
    "String(output.split('a'))",
    "output.split('b').toString()",
]


async def test_transforms_return_the_same(tmp_path: Path) -> None:
    assert [each for each in TRANSFORMS if transform_error(each)] == []
    cases = list(product(TRANSFORMS, TEXTS))
    differences = []
    for (transform, text), returned in zip(cases, tools.javascript(tmp_path, cases), strict=True):
        try:
            value = await transformed(transform, text)
        except TransformFailed:
            value = None
        expected = returned.get("value")
        if value != (well_formed(expected) if isinstance(expected, str) else expected):
            differences.append((transform, text, returned, value))
    assert differences == []


JSON_TEXTS = [
    '{"b": 1, "10": 2, "2": 3, "01": 4, "4294967295": 5}',
    "[1.0, 1e3, 1e21, 123456789012345678901, 0.1, 1e-7, 0.00001, 1.5e300, -0, 12345678901234567890]",
    '"\\ud83d \\ud83d\\ude00 \\u0007 \\u007f \\u2028 /"',
    "[null, true, {}, []]",
    "NaN",
    "[01]",
    "{'a': 1}",
]


def test_json_is_read_and_written_the_same(tmp_path: Path) -> None:
    expressions = [
        (f"{name}(JSON.parse(output))", text) for name in ("JSON.stringify", "String") for text in JSON_TEXTS
    ]
    returned = [each.get("value") for each in tools.javascript(tmp_path, expressions)]
    assert returned == [written(write, text) for write in (stringify, to_string) for text in JSON_TEXTS]


def written(write: Any, text: str) -> Any:
    try:
        return write(parse_json(text))
    except ValueError:
        return None


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_separated_by_the_same_white_space(tmp_path: Path, text: str) -> None:
    [returned] = tools.javascript(tmp_path, [("output.trim().split(/\\s+/).filter(w => w)", text)])
    assert words(text) == returned["value"]
