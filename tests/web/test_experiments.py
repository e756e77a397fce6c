"""The runs of an experiment in a real browser: their trend, and each compared with each other."""

import re
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Action
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.domain.text.figures import format_interval, format_points
from cupel_core.store import runs
from tests.answered_runs import AnsweredRun
from tests.compared_runs import carry_out_jobs, run_of
from tests.started_runs import NOW, ref_of
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screen, load, settled, violations
from tests.web.samples import SHORT_HOSTILE
from tests.web.test_live import HIDE, requests_of

BOTH = ("sim/steady", "sim/bold")
OTHER_SCENARIOS = (Scenario("", "elsewhere", (Message(MessageRole.USER, "?"),)),)


class Experiment(NamedTuple):
    id: str
    runs: list[str]

    @property
    def path(self) -> str:
        return f"/experiments/{self.id}"


def experiment_of(client: Client, run_ids: list[str]) -> Experiment:
    body = {
        "name": f"Tone {SHORT_HOSTILE}"[:100],
        "hypothesis": "Warm is better.",
        "baselineRunId": run_ids[0],
    }
    created = client.post("/v1/experiments", body)
    assert created.status == 201, created.text
    for run_id in run_ids:
        assert client.put(f"/v1/experiments/{created.json()['id']}/runs/{run_id}").status == 204
    carry_out_jobs()
    return Experiment(created.json()["id"], run_ids)


@pytest.fixture
def experiment(client: Client) -> Experiment:
    """The baseline, a better run, one that goes on, one that was cancelled, and one of other scenarios."""
    baseline = run_of("def_shared", "+-+-++-+---", repeats=4, models=BOTH)
    better = run_of("def_shared", "+++-++++-+-", repeats=4, models=BOTH)
    going_on = AnsweredRun(workspace="acme", definition_id="def_shared").start()
    cancelled = AnsweredRun(workspace="acme", definition_id="def_shared", answer=lambda _: None).start()
    runs.transition(ref_of(cancelled), Action.CANCEL, NOW, completed_at=NOW)
    elsewhere = run_of("def_elsewhere", "-", scenarios=OTHER_SCENARIOS)
    return experiment_of(client, [each.id for each in (baseline, better, going_on, cancelled, elsewhere)])


def trend(page: Page) -> Locator:
    return page.get_by_role("figure").filter(has_text="Pass rate by run")


def pairs(page: Page) -> Locator:
    """The rows of the matrix of pairs."""
    page.get_by_role("heading", name="All pairs of runs").scroll_into_view_if_needed()
    return page.get_by_role("region", name="Table: All pairs of runs").get_by_role("row")


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def test_the_trend_has_the_figures_of_the_runs_and_no_0_for_those_without(
    open_page: Open, client: Client, experiment: Experiment
) -> None:
    page = open_page(experiment.path)
    marks = trend(page).get_by_role("link", name=re.compile("^sim.steady, run"))
    expect(marks).to_have_count(5)
    for number, run_id in enumerate(experiment.runs, 1):
        mark = trend(page).get_by_role("link", name=re.compile(f"^sim.steady, run {number}\\b"))
        if number in (3, 4):
            expect(mark).to_have_attribute("aria-label", re.compile("running$" if number == 3 else "cancelled$"))
            expect(mark.locator("line")).to_have_count(0)
            continue
        columns = client.get(f"/v1/runs/{run_id}/results").json()["columns"]
        rate = next(each for each in columns if each["targetId"] == "sim/steady")["estimate"]["passRate"]
        bounds = format_interval(rate["interval95"], percent)
        text = f"{percent(rate['share'])}{bounds and f' ({bounds})'}, n = {rate['trials']}"
        expect(mark).to_have_attribute("aria-label", re.compile(re.escape(text) + "$"))
        expect(mark.locator("line")).to_have_count(1 if bounds else 0)
    expect(trend(page).get_by_role("link", name=re.compile("^sim.bold, run 5.*: not in this run$"))).to_have_count(1)
    trend(page).get_by_text("Figures as a table").click()
    rows = trend(page).get_by_role("row")
    expect(rows).to_have_count(1 + 5)
    expect(rows.nth(3)).to_contain_text("running")


def test_a_mark_of_the_trend_leads_to_its_run_by_keyboard(open_page: Open, experiment: Experiment) -> None:
    page = open_page(experiment.path)
    trend(page).get_by_role("button", name=re.compile("^PNG")).focus()
    page.keyboard.press("Tab")
    expect(page.locator("a:focus")).to_have_attribute("aria-label", re.compile("^sim.*, run 1, the baseline: "))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator("a:focus")).to_have_attribute("aria-label", re.compile("^sim.*, run 2: "))
    said = page.locator("a:focus").get_attribute("aria-label")
    assert said
    expect(trend(page).locator("p", has_text=said)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("summary:focus")).to_have_text("Figures as a table")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/runs/{experiment.runs[1]}$"))


def test_the_trend_is_exported(open_page: Open, experiment: Experiment) -> None:
    page = open_page(experiment.path)
    for ending, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            trend(page).get_by_role("button", name=re.compile(f"^{ending}")).click()
        content = download.value.path().read_bytes()
        assert download.value.suggested_filename == f"pass-rates.{ending.lower()}"
        assert content.startswith(begin)
        assert b"href" not in content


def test_all_pairs_are_compared_and_lead_to_their_comparison(
    open_page: Open, client: Client, experiment: Experiment
) -> None:
    baseline, better, *_ = experiment.runs
    page = open_page(experiment.path)
    expect(pairs(page)).to_have_count(1 + 4)
    figures = client.get("/v1/comparisons", query={"runId": better}).json()["items"][0]
    overall = client.get(f"/v1/comparisons/{figures['id']}").json()["figures"]["overall"]
    compared = pairs(page).nth(1).get_by_role("link").last
    low, high = map(format_points, overall["interval"])
    expect(compared).to_have_text(
        re.compile(re.escape(f"{format_points(overall['difference'])}({low} to {high})") + ".*n = 8")
    )
    expect(pairs(page).nth(2)).to_contain_text("not comparable: run 3 is running")
    expect(pairs(page).nth(4)).to_contain_text("share no ids, texts, names or dimension scores")
    page.get_by_role("button", name=re.compile("^Compare \\d further pairs?$")).click()
    expect(page.get_by_role("button", name=re.compile("further pair"))).to_have_count(0)
    expect(pairs(page).nth(4).get_by_role("link", name=re.compile("^Run 5 minus run 2"))).to_contain_text(
        "not comparable: the scenarios of"
    )
    expect(pairs(page).nth(3).get_by_role("link", name=re.compile("minus run 2: being compared"))).to_be_visible()
    carry_out_jobs()
    done = pairs(page).nth(3).get_by_role("link", name=re.compile("minus run 2: not comparable"))
    expect(done).to_be_visible()
    compared.click()
    expect(page).to_have_url(re.compile(f"/compare\\?a={baseline}&b={better}"))
    expect(page.get_by_role("heading", name="Difference of the pass rate, by target")).to_be_visible()


def test_why_a_pair_is_refused_is_still_said_after_a_reload(open_page: Open, experiment: Experiment) -> None:
    page = open_page(experiment.path)
    expect(pairs(page)).to_have_count(1 + 4)
    page.get_by_role("button", name=re.compile("further pair")).click()
    refused = pairs(page).nth(4).get_by_role("link", name=re.compile("^Run 5 minus run 2"))
    expect(refused).to_contain_text("not comparable: the scenarios of")
    page.reload()
    expect(pairs(page)).to_have_count(1 + 4)
    expect(refused).to_contain_text("not comparable: the scenarios of")


@pytest.mark.parametrize("goes_on", [False, True])
def test_only_what_may_change_is_asked_for_again(open_page: Open, client: Client, *, goes_on: bool) -> None:
    baseline, elsewhere = run_of("def_shared", "+-"), run_of("def_elsewhere", "-", scenarios=OTHER_SCENARIOS)
    other = AnsweredRun(workspace="acme", definition_id="def_shared").start() if goes_on else elsewhere
    page = open_page(experiment_of(client, [baseline.id, other.id]).path)
    runs_shown = page.get_by_role("region", name="Table: Runs", exact=True)
    expect(runs_shown).to_be_visible()
    page.clock.install()
    page.reload()
    expect(runs_shown).to_be_visible()
    settled(page)
    seen = requests_of(page)
    for _ in range(5):
        page.clock.run_for(6_000)
        settled(page)
    assert any(each.endswith("/summary") for each in seen) == goes_on, seen


def test_mean_decisions_have_a_trend_of_their_own_and_pairs_compare_them(open_page: Open, client: Client) -> None:
    decided = [run_of("def_shared", "+-", models=BOTH, summary=Summary(code, "", NOW)).id for code in ("2", "4", "3")]
    page = open_page(experiment_of(client, decided).path)
    expect(trend(page)).to_be_visible()
    decisions = page.get_by_role("figure").filter(has_text="Mean decision by run")
    marks = decisions.get_by_role("link", name=re.compile("^sim.bold, run"))
    expect(marks).to_have_count(3)
    for mark, mean in zip(marks.all(), ("2.00", "4.00", "3.00"), strict=True):
        expect(mark).to_have_attribute("aria-label", re.compile(f": {mean}.*, n = 8$"))
    heights = [place["y"] for place in (mark.bounding_box() for mark in marks.all()) if place]
    assert heights[1] < heights[2] < heights[0]
    expect(pairs(page).nth(1)).to_contain_text("+2.00")
    expect(page.get_by_text("the difference of the mean decision, with its 95% interval")).to_be_visible()


def test_it_asks_at_most_once_a_second_while_pairs_are_compared(open_page: Open, experiment: Experiment) -> None:
    page = open_page(experiment.path)
    expect(pairs(page)).to_have_count(1 + 4)
    page.get_by_role("button", name=re.compile("further pair")).click()
    expect(page.get_by_text("being compared").first).to_be_visible()
    settled(page)
    seen = requests_of(page)
    page.wait_for_timeout(6_000)
    assert 2 <= len(seen) <= 7, seen
    page.evaluate(HIDE)
    page.wait_for_timeout(1_500)
    seen.clear()
    page.wait_for_timeout(6_000)
    assert seen == []


def test_pairs_of_one_target_are_in_the_address(open_page: Open, client: Client, experiment: Experiment) -> None:
    page = open_page(experiment.path)
    expect(pairs(page)).to_have_count(1 + 4)
    page.get_by_role("combobox", name="Target", exact=True).select_option("sim/bold")
    expect(page).to_have_url(re.compile("target=sim%2Fbold"))
    (listed, *_) = client.get("/v1/comparisons", query={"runId": experiment.runs[1]}).json()["items"]
    rows = client.get(f"/v1/comparisons/{listed['id']}").json()["figures"]["rows"]
    bold = next(each for each in rows if each["baseline"][0]["targetId"] == "sim/bold")
    for _ in range(2):
        expect(pairs(page).nth(1)).to_contain_text(format_points(bold["difference"]))
        page.reload()
    page.get_by_role("combobox", name="Target", exact=True).select_option("All targets together")
    expect(page).not_to_have_url(re.compile("target="))


def test_the_measure_of_the_pairs_is_in_the_address_and_asks_for_nothing(
    open_page: Open, client: Client, experiment: Experiment
) -> None:
    page = settled(open_page(experiment.path))
    expect(pairs(page).nth(1)).to_contain_text("pp")
    settled(page)
    seen = requests_of(page)
    measure = page.get_by_role("combobox", name="Measure", exact=True)
    expect(measure.locator("option:checked")).to_have_text("Pass rate")
    measure.select_option("Tokens of a conversation")
    expect(page).to_have_url(re.compile("[?&]measure=tokens$"))
    (listed, *_) = client.get("/v1/comparisons", query={"runId": experiment.runs[1]}).json()["items"]
    figures = client.get(f"/v1/comparisons/{listed['id']}").json()["figures"]
    baseline, other = (figures["overall"]["operations"][side]["tokens"] for side in ("baseline", "comparison"))
    compared = pairs(page).nth(1).get_by_role("link").last
    expect(compared).to_have_text(f"Run 2 minus run 1: {other - baseline:.0f}from {baseline:.0f} to {other:.0f}")
    assert [each for each in seen if "/comparisons" in each] == []
    page.get_by_role("combobox", name="Target", exact=True).select_option("sim/bold")
    expect(page).to_have_url(re.compile("measure=tokens&target=sim%2Fbold|target=sim%2Fbold&measure=tokens"))
    page.reload()
    expect(pairs(page).nth(1)).to_contain_text(f"from {baseline:.0f} to {other:.0f}")
    expect(measure.locator("option:checked")).to_have_text("Tokens of a conversation")
    expect(
        page.get_by_text("Tokens of a conversation: from all conversations of both runs, not tested.")
    ).to_be_visible()
    table = page.get_by_role("table", name="Tokens of a conversation, newer run minus older one, sim/bold")
    expect(table).to_be_attached()
    measure.select_option("Pass rate")
    expect(page).not_to_have_url(re.compile("measure="))
    expect(pairs(page).nth(1)).to_contain_text("pp")


def test_pairs_without_the_measure_say_so_and_are_compared_by_it(open_page: Open, client: Client) -> None:
    decided = [run_of("def_shared", "+-", summary=Summary(code, "", NOW)).id for code in ("2", "4", "3")]
    page = open_page(experiment_of(client, decided).path)
    expect(pairs(page).nth(1)).to_contain_text("+2.00")
    measure = page.get_by_role("combobox", name="Measure", exact=True)
    measure.select_option("Pass rate")
    expect(pairs(page).nth(1)).to_contain_text("not compared by the pass rate, only by the mean decision")
    expect(pairs(page).nth(2)).to_contain_text("not compared yet")
    page.get_by_role("button", name="Compare 3 further pairs").click()
    expect(page.get_by_text("being compared").first).to_be_visible()
    carry_out_jobs()
    expect(pairs(page).nth(2).get_by_text("+0.0 pp").or_(pairs(page).nth(2).get_by_text("0.0 pp"))).to_have_count(2)
    expect(page.get_by_role("button", name=re.compile("further pair"))).to_have_count(0)
    measure.select_option("Mean decision")
    expect(pairs(page).nth(1)).to_contain_text("+2.00")
    pairs(page).nth(1).get_by_role("link").last.click()
    expect(page).to_have_url(re.compile(f"/compare\\?a={decided[0]}&b={decided[1]}&c=cmp_"))
    expect(page.get_by_role("heading", name="Difference of the mean decision, by target")).to_be_visible()
    page.goto(page.url.partition("&c=")[0])
    expect(page.get_by_role("heading", name="Difference of the pass rate, by target")).to_be_visible()


def test_one_run_says_what_is_needed(open_page: Open, client: Client) -> None:
    page = open_page(experiment_of(client, [run_of("def_shared", "+-").id]).path)
    expect(page.get_by_text("Only one run has results: a trend needs two runs")).to_be_visible()
    expect(page.get_by_text("There is only one run: a pair needs two runs")).to_be_visible()
    expect(trend(page).get_by_role("link", name=re.compile("^sim.steady, run 1"))).to_have_count(1)
    empty = client.post("/v1/experiments", {"name": "None", "hypothesis": "Nothing yet."}).json()["id"]
    page = open_page(f"/experiments/{empty}")
    expect(page.get_by_role("heading", name="No runs yet")).to_be_visible()


def test_of_many_runs_the_newest_are_shown_and_it_is_said(open_page: Open, client: Client) -> None:
    many = [run_of("def_shared", "+-", scenarios=OTHER_SCENARIOS).id for _ in range(33)]
    page = open_page(experiment_of(client, many).path)
    expect(page.get_by_text("30 of 33 runs are drawn: the newest and the baseline.")).to_be_visible()
    expect(trend(page).get_by_role("link", name=re.compile("run (1, the baseline|5):"))).to_have_count(2)
    expect(trend(page).get_by_role("link", name=re.compile("run 4:"))).to_have_count(0)
    expect(page.get_by_text("8 of 33 runs are compared here: the newest and the baseline.")).to_be_attached()
    expect(pairs(page)).to_have_count(1 + 7)
    expect(pairs(page).nth(0)).to_contain_text("minus 1the baseline")


def test_a_viewer_reads_trend_and_pairs_and_compares_nothing(open_page: Open, experiment: Experiment) -> None:
    page = open_page(experiment.path, role=AccessRole.VIEWER)
    expect(pairs(page).nth(1).get_by_role("link").last).to_contain_text("pp")
    expect(pairs(page).nth(3)).to_contain_text("not compared yet")
    expect(page.get_by_role("button", name=re.compile("further pair"))).to_have_count(0)
    expect(trend(page)).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_trend_and_pairs(open_page: Open, experiment: Experiment, theme: str) -> None:
    page = settled(open_page(experiment.path, color_scheme=theme, bypass_csp=True))
    expect(pairs(page).nth(1)).to_contain_text("pp")
    trend(page).get_by_role("link").first.focus()
    assert violations(page) == []
    check_screen(page, "experiment-trend")


def test_an_experiment_is_made_from_an_empty_list_and_filled(open_page: Open, client: Client) -> None:
    baseline = run_of("def_shared", "+-+-++-+---", repeats=4)
    better = run_of("def_shared", "+++-++++-+-", repeats=4)
    elsewhere = run_of("def_elsewhere", "-", scenarios=OTHER_SCENARIOS)
    page = open_page("/experiments")
    page.get_by_role("button", name="Create the first experiment").click()
    expect(page.get_by_label("Name")).to_be_focused()
    page.get_by_label("Name").fill("Tone")
    page.get_by_label("Hypothesis").fill("Warm is better.")
    page.get_by_label("The other runs are expected to be").select_option("higher than the baseline")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="No runs yet")).to_be_in_viewport()
    page.get_by_role("button", name="Add runs…").click()
    dialog = page.get_by_role("dialog", name="Add runs")
    expect(dialog).to_be_in_viewport()
    dialog.get_by_label(re.compile(baseline.id[-6:])).check()
    dialog.get_by_role("button", name="Add 1 run").click()
    expect(page.get_by_text("No baseline is set, so no run is compared.")).to_be_visible()
    page.get_by_role("button", name="Add runs…").click()
    offered = dialog.get_by_role("checkbox")
    expect(offered).to_have_count(2)
    labels = dialog.get_by_role("region", name="Runs to add").locator("label")
    expect(labels.nth(0)).to_contain_text(better.id[-6:])
    expect(labels.nth(1)).to_contain_text("of another definition")
    for checkbox in offered.all():
        checkbox.check()
    dialog.get_by_role("button", name="Add 2 runs").click()
    rows = page.get_by_role("region", name="Table: Runs").get_by_role("row")
    expect(rows).to_have_count(1 + 3)
    page.get_by_role("combobox", name="Baseline").select_option(baseline.id)
    expect(rows.nth(1)).to_contain_text("the baseline")
    carry_out_jobs()
    expect(page.get_by_role("region", name="Table: Differences from the baseline")).to_be_visible()
    page.get_by_role("button", name="Remove run 3").click()
    expect(rows).to_have_count(1 + 2)
    [stored] = client.get("/v1/experiments").json()["items"]
    assert (stored["name"], stored["direction"], stored["baselineRunId"]) == ("Tone", "HIGHER", baseline.id)
    members = {each["id"] for each in client.get("/v1/runs", query={"experimentId": stored["id"]}).json()["items"]}
    assert members == {baseline.id, better.id}
    assert client.get(f"/v1/runs/{elsewhere.id}").status == 200


def test_a_removed_baseline_is_none(open_page: Open, client: Client) -> None:
    made = experiment_of(client, [run_of("def_shared", "+-").id, run_of("def_shared", "++").id])
    page = open_page(made.path)
    page.get_by_role("button", name="Remove run 1").click()
    expect(page.get_by_text("No baseline is set, so no run is compared.")).to_be_visible()
    stored = client.get(f"/v1/experiments/{made.id}").json()
    assert stored["baselineRunId"] is None
    [left] = client.get("/v1/runs", query={"experimentId": made.id}).json()["items"]
    assert left["id"] == made.runs[1]


def test_an_experiment_is_made_with_its_baseline_renamed_and_deleted(open_page: Open, client: Client) -> None:
    run = run_of("def_shared", "+-")
    page = open_page("/experiments")
    page.get_by_text("New experiment").click()
    page.get_by_label("Name").fill("Tone")
    page.get_by_label("Hypothesis").fill("Warm is better.")
    page.get_by_label("Baseline (optional)").select_option(run.id)
    page.get_by_role("button", name="Create", exact=True).click()
    rows = page.get_by_role("region", name="Table: Runs").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("the baseline")
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("menuitem", name="Name and hypothesis…").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Warmth")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Warmth")
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("menuitem", name="Delete…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Its runs and their comparisons stay")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No experiments yet")).to_be_visible()
    assert client.get(f"/v1/runs/{run.id}").status == 200


def test_a_run_is_started_in_an_experiment(open_page: Open, client: Client) -> None:
    key = client.post("/v1/definitions", {"name": "Facts", "content": {"system": "Be brief."}}).json()["id"]
    client.post(f"/v1/definitions/{key}/scenarios", {"items": [{"prompt": "hello"}]})
    made = client.post("/v1/experiments", {"name": "Tone", "hypothesis": "Warm is better."}).json()["id"]
    page = open_page(f"/experiments/{made}")
    page.get_by_role("link", name="Start a run in this experiment").click()
    expect(page.get_by_text("More options: 1 option set")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page).to_have_url(re.compile("/runs/run_"))
    [run] = client.get("/v1/runs").json()["items"]
    assert run["experimentId"] == made


def test_a_viewer_is_offered_no_change_of_an_experiment(open_page: Open, experiment: Experiment) -> None:
    page = open_page(experiment.path, role=AccessRole.VIEWER)
    expect(page.get_by_role("region", name="Table: Runs")).to_be_visible()
    expect(page.get_by_role("button", name="Add runs…")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^Remove"))).to_have_count(0)
    expect(page.get_by_role("combobox", name="Baseline")).to_have_count(0)
    page.get_by_role("button", name="Actions", exact=True).click()
    expect(page.get_by_role("menuitem")).to_have_text(["Copy link"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_an_empty_experiment_and_its_dialogs(open_page: Open, client: Client, theme: str) -> None:
    run_of("def_shared", "+-")
    made = client.post("/v1/experiments", {"name": "Tone", "hypothesis": SHORT_HOSTILE[:400]}).json()["id"]
    page = settled(open_page(f"/experiments/{made}", color_scheme=theme, bypass_csp=True))
    check_screen(page, "experiment-empty")
    page.get_by_role("button", name="Add runs…").click()
    check_screen(page, "experiment-add")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    check_screen(load(page, "/experiments"), "experiments-new")
