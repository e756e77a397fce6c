"""Fragments among docstrings are found, sentences are not, and their number can only fall."""

import json
import sys
from pathlib import Path

import pytest

from tools import docstrings
from tools.docstrings import is_fragment


@pytest.mark.parametrize(
    "text",
    [
        "Of the last report.",
        "Of the scenarios at these positions, those of one page.",
        "That are reported: a definition may name as many models as it has assertions.",
        "What a model returns.",
        "Those from before the turn.",
        "After which a worker gives back what it has drawn.",
        "Whether the run has ended and has a report.",
        "Also a deleted or expired chat.",
        "By whom the run was started,\nor when.",
    ],
)
def test_a_fragment_has_no_main_clause(text: str) -> None:
    assert is_fragment(text)


@pytest.mark.parametrize(
    "text",
    [
        "Return the newest report.",
        "Seconds after which a worker returns its unspent grant.",
        "After a crash, the run goes on.",
        "With a limit, lists end there; without one they do not.",
        "What was paid is stored with what it has bought.",
        "If the run has ended, nothing happens.",
        "As the provider asks, calls wait.",
        "Office hours of the provider.",
        "",
    ],
)
def test_a_sentence_is_no_fragment(text: str) -> None:
    assert not is_fragment(text)


def test_docstrings_of_everything_are_found(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""Module."""\nLIMIT = 1\n"""Limit."""\nclass A:\n  """Class."""\n  x: int\n  """Attribute."""\n'
        '  def f(self):\n    """Function."""\n    return "no docstring"\n'
    )
    found = sorted(each.text for each in docstrings.docstrings_of(module))
    assert found == ["Attribute.", "Class.", "Function.", "Limit.", "Module."]


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        ({}, "module.py: 1 fragments among its docstrings, 0 allowed"),
        ({"bench/module.py": 2}, "only 1 of 2 fragments are left"),
        ({"bench/module.py": 1}, ""),
        ({"bench/module.py": 1, "bench/gone.py": 1}, "gone.py: only 0 of 1"),
    ],
)
def test_the_number_of_fragments_only_falls(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    allowed: dict[str, int],
    message: str,
) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/module.py").write_text('"""Of a run."""\n')
    file = tmp_path / "allowed.json"
    file.write_text(json.dumps(allowed))
    monkeypatch.setattr(docstrings, "ALLOWED", file)
    monkeypatch.setattr(docstrings, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["docstrings"])
    with pytest.raises(SystemExit) as ended:
        docstrings.main()
    assert (bool(ended.value.code), message in capsys.readouterr().out) == (bool(message), True)
    monkeypatch.setattr(sys, "argv", ["docstrings", "--update"])
    docstrings.main()
    written = json.loads(file.read_text())
    assert written == ({"bench/module.py": 1} if allowed.get("bench/module.py") else {})
