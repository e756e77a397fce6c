"""Whatever a file contains, an import reads it or raises InvalidDocument, and no other error."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.definitions.datasets import DatasetFormat, DatasetScorer
from cupel_core.interop.imports.datasets import read_dataset
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.promptfoo.yaml_documents import from_yaml
from tests.interop.suites import SUITE
from tests.unit.interop.imports.reading import read_suite

type Path = tuple[str | int, ...]

CONFIG = from_yaml(SUITE.read_text(), "the suite")
FILES = {path.name.replace(".", "__"): path.read_text() for path in SUITE.parent.iterdir()}
JUNK: list[Any] = [
    *(None, True, -1, 3.5, "", "x", [], {}, [[]], [None], {"a": None}),
    *("file://", "file://nope.txt", "file://../x", "file://*", "file://schema.json", "https://example.org", "*", "["),
    *("{{", "{{x}}", "{% for a in x %}", "- role: user", {"$ref": "#/tests"}, {"type": "contains"}, {"id": {}}),
    [{"role": "user", "content": None}],
]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from paths(part, (*path, key))


def with_junk(value: Any, path: Path, junk: Any) -> Any:
    if not path:
        return junk
    copy = value.copy()
    copy[path[0]] = with_junk(value[path[0]], path[1:], junk)
    return copy


# No deadline: a reference to all tests inside the default test takes a second.
@given(st.sampled_from(list(paths(CONFIG))), st.sampled_from(JUNK))
def test_a_broken_configuration_is_read_or_rejected(path: Path, junk: Any) -> None:
    try:
        drafts = read_suite(json.dumps(with_junk(CONFIG, path, junk)), **FILES).drafts
    except InvalidDocument:
        return
    json.dumps([scenario.to_json() for draft in drafts for scenario in draft.scenarios])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "text"]), inner),
    max_leaves=5,
)
SAMPLES = st.fixed_dictionaries(
    {"input": st.just("Q") | VALUES},
    optional=dict.fromkeys(("target", "ideal", "choices", "metadata", "id", "item"), VALUES),
)


@given(SAMPLES, st.sampled_from(DatasetFormat), st.none() | st.sampled_from(DatasetScorer))
def test_a_broken_sample_is_read_or_rejected(
    sample: dict[str, Any], kind: DatasetFormat, scorer: DatasetScorer | None
) -> None:
    text = (
        ",".join(sample) + "\n" + ",".join(map(str, sample.values()))
        if kind is DatasetFormat.CSV
        else json.dumps(sample)
    )
    try:
        read_dataset(text, kind, "Samples", scorer)
    except InvalidDocument:
        return
