"""Figures of analyses: as SVG and PNG, the same each time, safe with any name."""

from pathlib import Path
from typing import Any

import httpx
import matplotlib as mpl
import pytest
from defusedxml import ElementTree as Etree
from matplotlib.figure import Figure

import cupel
from cupel import extras
from cupel.plots.draw import DrawnPlots, draw_plots
from cupel.plots.style import CODES, labels, text_color_on
from cupel_core.domain.text.figures import format_decimal
from tests import plotted_figures
from tests.unit.cupel.fake_api import Cupel, FakeApi

MODELS = ("sim/steady", "sim/bold", "sim/contrarian")
FIGURES = ("distribution", "agreement", "components", "differences")
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script> & \"it\" 'is' ]]>",
    "two\nlines\tand\x00\x1b[31m control",
    "$\\frac{a}{b}$ ${x}$",
    "\u202eשלום עולם\u202d",
    "نموذج اللغة",
    "模型 🤖",
    "x" * 5_000,
    "",
    "twice",
    "twice",
    "half \ud800 a character",
)
"""Names of targets: markup, control characters, formulas, text from right to left, long, empty, equal ones."""


class Analyzed:
    """The figures of an evaluation in this process."""

    def __init__(self, *models: str, scenarios: int = 24, assertions: bool = False) -> None:
        content: dict[str, Any] = {"decision": {"pattern": "([1-5])"}}
        if assertions:
            content = {"assertions": [{"type": "regex", "value": "[34]"}]}
        listed = [
            {
                "name": f"case {number}",
                "messages": [{"role": "user", "content": f"Rate case {number}."}],
                "dimensions": {"stakes": number % 4 + 1, "delay": number // 4 % 3 + 1},
            }
            for number in range(scenarios)
        ]
        definition = {"name": "ratings", "content": content, "scenarios": listed}
        evaluation = cupel.evaluate(definition, list(models), progress=False)
        self.basic, self.deep = evaluation.analysis(), evaluation.deep_analysis()
        self.names = list(models)

    def draw(self, folder: Path, names: list[str] | None = None) -> DrawnPlots:
        return draw_plots(self.basic, self.deep, names or self.names, folder)


@pytest.fixture(scope="module")
def analyzed() -> Analyzed:
    return Analyzed(*MODELS)


@pytest.fixture(scope="module")
def drawn(analyzed: Analyzed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plots")
    analyzed.draw(folder)
    return folder


@pytest.fixture
def without_png(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write empty PNG files: drawing them takes most of the time of a figure."""
    save = Figure.savefig

    def save_svg(figure: Figure, file: Any, **options: Any) -> None:
        if options["format"] == "svg":
            save(figure, file, **options)
        else:
            Path(file).touch()

    monkeypatch.setattr(Figure, "savefig", save_svg)


def texts_of(path: Path) -> list[str]:
    return ["".join(each.itertext()) for each in Etree.parse(path, forbid_dtd=False).iter(f"{SVG}text")]


def test_each_figure_is_an_svg_and_a_png(drawn: Path) -> None:
    assert {path.name for path in drawn.iterdir()} == {f"{name}.{kind}" for name in FIGURES for kind in ("svg", "png")}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn.glob("*.png"))


def test_equal_figures_are_equal_files_whatever_the_readers_settings(
    analyzed: Analyzed, drawn: Path, tmp_path: Path
) -> None:
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.facecolor": "black"}):
        analyzed.draw(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in drawn.iterdir()
    }


@pytest.mark.usefixtures("without_png")
def test_drawing_leaves_the_readers_settings_alone(analyzed: Analyzed, tmp_path: Path) -> None:
    with mpl.rc_context({"font.size": 30}):
        analyzed.draw(tmp_path)
        assert mpl.rcParams["font.size"] == 30


def test_the_distribution_has_a_row_per_target_with_its_mean(analyzed: Analyzed, drawn: Path) -> None:
    texts = texts_of(drawn / "distribution.svg")
    means = [f"mean {format_decimal(column['estimate']['decision']['mean'])}" for column in analyzed.basic["columns"]]
    assert {*MODELS, *means, *CODES} <= set(texts)


def test_the_agreement_of_each_pair_has_its_number(analyzed: Analyzed, drawn: Path) -> None:
    kappas = [format_decimal(pair["kappa"]) for pair in analyzed.basic["agreement"]["pairs"]]
    texts = texts_of(drawn / "agreement.svg")
    assert all(texts.count(kappa) >= 2 * kappas.count(kappa) for kappa in kappas)


def test_components_name_their_targets(drawn: Path) -> None:
    assert {*MODELS} <= set(texts_of(drawn / "components.svg"))


@pytest.mark.usefixtures("without_png")
def test_components_mark_outliers(analyzed: Analyzed, tmp_path: Path) -> None:
    """Whether a simulated model is one depends on what it answers."""
    targets = analyzed.deep["outlierTargets"]["targets"]
    for name, found in (("some", [{**targets[0], "isOutlier": True}, *targets[1:]]), ("none", targets[:0])):
        deep = {**analyzed.deep, "outlierTargets": {**analyzed.deep["outlierTargets"], "targets": found}}
        draw_plots(analyzed.basic, deep, analyzed.names, tmp_path / name)
        assert ("outlier" in texts_of(tmp_path / name / "components.svg")) == (name == "some")


def test_differences_are_named_by_their_pairs(drawn: Path) -> None:
    texts = [text.replace("\u200e", "") for text in texts_of(drawn / "differences.svg")]
    assert {"sim/bold − sim/steady", "sim/contrarian − sim/steady", "sim/contrarian − sim/bold"} <= set(texts)


@pytest.mark.usefixtures("without_png")
def test_any_name_gives_valid_xml_without_markup_of_its_own(analyzed: Analyzed, tmp_path: Path) -> None:
    for first in range(0, len(HOSTILE), 3):
        names = (list(HOSTILE) * 2)[first : first + 3]
        analyzed.draw(tmp_path / str(first), names)
        for path in (tmp_path / str(first)).glob("*.svg"):
            tags = {each.tag for each in Etree.parse(path, forbid_dtd=False).iter()}
            assert not {tag for tag in tags if tag.endswith("script")}


@pytest.mark.usefixtures("without_png")
def test_a_name_is_one_short_line_and_no_formula(analyzed: Analyzed, tmp_path: Path) -> None:
    analyzed.draw(tmp_path, [HOSTILE[1], HOSTILE[2], HOSTILE[6]])
    texts = texts_of(tmp_path / "distribution.svg")
    assert HOSTILE[2] in texts
    assert max(map(len, texts)) < 60
    assert not any("\n" in text.strip() for text in texts)


def test_equal_names_are_numbered() -> None:
    assert labels(["twice", "once", "twice"]) == ["twice (1)", "once", "twice (3)"]


def test_a_long_name_keeps_both_ends() -> None:
    (label,) = labels(["a" * 30 + "b" * 30])
    assert (label[0], label[-1], len(label)) == ("a", "b", 36)


def test_text_from_right_to_left_cannot_turn_what_follows() -> None:
    assert not set("\u202e\u202d") & set(labels([HOSTILE[3]])[0])


@pytest.mark.parametrize("color", CODES.values())
def test_numbers_are_readable_on_every_color(color: str) -> None:
    """WCAG 2: a contrast of 4.5 or more."""
    text, background = (luminance(each) for each in (text_color_on(color), color))
    assert (max(text, background) + 0.05) / (min(text, background) + 0.05) >= 4.5


def luminance(color: str) -> float:
    channels = [int({"white": "#ffffff"}.get(color, color)[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.usefixtures("without_png")
def test_one_target_has_a_distribution_only_and_the_rest_says_why(tmp_path: Path) -> None:
    found = Analyzed("sim/steady").draw(tmp_path)
    assert [path.name for path in found.files] == ["distribution.svg", "distribution.png"]
    assert found.omitted == {
        "agreement": "no two targets have answered the same scenarios",
        "components": "needs at least 3 targets with answers to the same scenarios",
        "differences": "no two targets have answered the same scenarios",
    }


@pytest.mark.usefixtures("without_png")
def test_pass_rates_are_drawn_with_their_intervals(tmp_path: Path) -> None:
    Analyzed(*MODELS, assertions=True).draw(tmp_path)
    assert "Pass rate of each target, with its 95% interval" in texts_of(tmp_path / "distribution.svg")


@pytest.mark.usefixtures("without_png")
def test_two_targets_in_one_direction_are_drawn(tmp_path: Path) -> None:
    found = Analyzed("sim/steady", "sim/bold").draw(tmp_path)
    assert "components" in found.omitted
    assert len(found.files) == 6


@pytest.mark.usefixtures("without_png")
def test_rows_that_are_left_out_are_counted(analyzed: Analyzed, tmp_path: Path) -> None:
    many = [analyzed.basic["columns"][0]] * 60
    draw_plots(
        {**analyzed.basic, "columns": many}, analyzed.deep, [f"model {number}" for number in range(60)], tmp_path
    )
    texts = texts_of(tmp_path / "distribution.svg")
    assert "Decisions of each target (the first 50 of 60)" in texts
    assert "model 50" not in texts


def test_the_command_draws_both_analyses(analyzed: Analyzed, api: FakeApi, cupel: Cupel, tmp_path: Path) -> None:
    answer(api, analyzed)
    result = cupel("analyze", "run_1", "--scenarios", "0", "--plots", str(tmp_path / "new" / "out"))
    assert result.exit_code == 0, result.output
    assert "distribution.svg, distribution.png, agreement.svg" in result.stderr
    assert len(list((tmp_path / "new" / "out").iterdir())) == 8
    assert "sim/contrarian" in texts_of(tmp_path / "new" / "out" / "components.svg")


@pytest.mark.usefixtures("without_png")
def test_json_and_plots_can_be_combined(analyzed: Analyzed, api: FakeApi, cupel: Cupel, tmp_path: Path) -> None:
    answer(api, analyzed)
    assert cupel("analyze", "run_1", "--deep", "--json", "--plots", str(tmp_path)).stdout.startswith("{")
    assert (tmp_path / "components.svg").exists()


def test_a_folder_that_cannot_be_made_is_named(analyzed: Analyzed, api: FakeApi, cupel: Cupel, tmp_path: Path) -> None:
    answer(api, analyzed)
    (tmp_path / "file").write_text("")
    result = cupel("analyze", "run_1", "--scenarios", "0", "--plots", str(tmp_path / "file"))
    assert result.exit_code != 0
    assert "--plots:" in result.stderr


def test_without_matplotlib_nothing_is_requested(
    api: FakeApi, cupel: Cupel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(extras._MODULES, "plots", ("a_package_that_is_missing",))
    result = cupel("analyze", "run_1", "--plots", str(tmp_path))
    assert "cupel[plots]" in result.stderr
    assert api.bodies("POST", "/runs/run_1/analysis") == []


def answer(api: FakeApi, analyzed: Analyzed) -> None:
    head = {"id": "ana_1", "runId": "run_1", "status": "COMPLETED", "failure": None, "isStale": False, "jobId": None}
    api.documents["runs/run_1/analysis"] = {**head, "staleReason": None, "figures": analyzed.basic}
    api.documents["runs/run_1/analysis/deep"] = {**head, "staleReason": None, "figures": analyzed.deep}
    api.respond_to_posts = httpx.Response(200, json=head)


@pytest.mark.usefixtures("without_png")
def test_the_figures_in_the_documentation_are_drawn_like_this(tmp_path: Path) -> None:
    """`python -m tests.plotted_figures` draws them anew."""
    drawn_now = {path.name: path.read_bytes() for path in plotted_figures.draw(tmp_path)}
    assert {name: (plotted_figures.IMAGES / name).read_bytes() for name in drawn_now} == drawn_now
