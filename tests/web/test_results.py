"""The results of a run in a browser: the table of answers, its filters, and the conversation beside it."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.labelling.labels import Label
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.store import labels as stored_labels
from tests.answered_runs import AnsweredRun
from tests.unit.api.client import Client
from tests.web.conftest import WIDTHS, Open, check_screens, go, load, violations
from tests.web.samples import PAYLOADS, sample_run
from tests.web.server import Server


def timed_run(**changes: Any) -> Run:
    """60 conversations, one of them an error; those of the second target take 1 to 1.2 s, the others 0.1 to 0.3 s."""
    return sample_run(duration_ms=lambda index: 100 + 10 * (index % 20) + (900 if 20 <= index < 40 else 0), **changes)


@pytest.fixture
def run(server: Server) -> Run:
    return timed_run()


def counts_of(page: Page) -> Locator:
    """What is said of the listed conversations."""
    return page.get_by_role("status").filter(has_text="of 60 conversations")


def drag(page: Page, start: float, end: float) -> None:
    """Over the drawing, from one share of its width to another."""
    drawing = page.get_by_role("img", name=re.compile("of conversations by target"))
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=4)
    page.mouse.up()


def row_headers(page: Page) -> Locator:
    return page.get_by_role("grid").get_by_role("rowheader")


def test_a_dragged_range_filters_the_table_and_is_in_the_address(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}?by=time")
    counts = counts_of(page)
    expect(counts).to_have_text("60 of 60 conversations in 5 rows, 40 of 59 judged passed, 1 errored")
    page.get_by_text("Distribution of scores, times and costs").click()
    drag(page, 0.6, 0.98)
    expect(page).to_have_url(re.compile(r"time=[\d.]+(~|%7E)"))
    expect(counts).to_have_text(re.compile("^20 of 60 conversations"))
    # Another figure keeps the filter, and the histogram has what the filter leaves.
    page.get_by_role("combobox", name="Distribution of").select_option("score")
    expect(counts).to_have_text(re.compile("^20 of 60 conversations"))
    expect(page.get_by_role("img", name=re.compile("^Score of conversations"))).to_have_accessible_name(
        re.compile(r"sim/steady: n = 0\. sim/bold: n = 20, median 1.00")
    )
    address = page.url
    again = open_page(address.partition("$default")[2].replace("&", "%26"))
    expect(counts_of(again)).to_have_text(re.compile("^20 of 60"))
    again.get_by_role("button", name=re.compile("^time from .*, remove this filter")).click()
    expect(counts_of(again)).to_have_text(re.compile("^60 of 60"))


def test_a_range_is_chosen_with_the_keyboard_alone(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}?by=score")
    page.get_by_text("Distribution of scores, times and costs").click()
    lower = page.get_by_role("slider", name="Lower bound")
    expect(lower).to_have_attribute("aria-valuetext", "none")
    lower.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(lower).to_have_attribute("aria-valuetext", "from 0.3")
    counts = counts_of(page)
    expect(counts).to_have_text("40 of 60 conversations in 5 rows, 40 of 40 judged passed")
    page.keyboard.press("Home")
    expect(counts).to_have_text(re.compile("^60 of 60"))
    expect(page).not_to_have_url(re.compile("score=0"))


def test_the_figures_are_asked_for_once_with_each_visit(open_page: Open, run: Run) -> None:
    page = open_page("/runs")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "probe-columns" in request.url else None)
    go(page, f"/runs/{run.id}")
    counts = counts_of(page)
    expect(counts).to_have_text(re.compile("^60 of 60 conversations"))
    page.get_by_role("button", name="Errored 1").click()
    expect(counts).to_have_text(re.compile("^1 of 60 conversations"))
    assert len(asked) == 1
    go(page, f"/runs/{run.id}/settings")
    expect(page.get_by_role("heading", name="Targets")).to_be_visible()
    with page.expect_request(re.compile("probe-columns")):  # What was read before is shown meanwhile.
        page.go_back()
    expect(counts).to_have_text(re.compile("^1 of 60 conversations"))
    assert len(asked) == 2


def test_the_table_is_walked_with_the_keyboard_and_the_conversation_opens_beside_it(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}")
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "6")
    expect(grid.get_by_role("columnheader", name="sim/bold")).to_contain_text(re.compile(r"% .* of \d+"))
    expect(grid.get_by_role("gridcell", name="answer 13, and a sentence")).to_be_visible()
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("ArrowDown")  # It goes into the table from anywhere.
    focused = page.locator("[role=gridcell]:focus")
    expect(focused).to_have_attribute("aria-colindex", "3")
    for key in ("ArrowDown", "ArrowRight", "End", "ArrowLeft"):
        page.keyboard.press(key)
    expect(focused).to_have_attribute("aria-colindex", "4")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]t=2[4-7]"))
    drawer = page.get_by_role("region", name="Conversation", exact=True)
    expect(drawer).to_be_in_viewport()
    expect(drawer.get_by_role("article")).to_be_in_viewport()
    expect(grid.get_by_role("gridcell", selected=True)).to_be_in_viewport()
    scroll = page.evaluate("scrollY")
    page.keyboard.press("n")
    expect(drawer.get_by_role("article")).to_contain_text("✕ failed")
    assert page.evaluate("scrollY") == scroll  # What was opened replaces the other one in its place.
    page.keyboard.press("]")
    expect(drawer.get_by_role("article")).to_contain_text("sim/contrarian")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(focused).to_have_attribute("aria-colindex", "5")
    expect(focused).to_be_in_viewport()


def test_the_conversations_of_all_targets_are_beside_each_other(open_page: Open, run: Run) -> None:
    page = load(open_page("/runs"), f"/runs/{run.id}?t=9")
    expect(page.get_by_role("article")).to_have_count(1)
    page.keyboard.press("b")
    expect(page.get_by_role("article")).to_have_count(3)
    expect(page.get_by_role("article").first).to_be_in_viewport()
    page.get_by_label("Messages as").select_option(label="text")
    expect(page.get_by_role("article").nth(1).locator("mark").first).to_be_visible()
    page.get_by_label("Repeat").select_option(label="3 of 4")
    expect(page.get_by_role("article").first).to_contain_text("conversation 10")
    page.get_by_role("button", name="All targets").click()
    expect(page.get_by_role("article")).to_have_count(1)


def test_rows_are_shown_by_what_came_of_them(open_page: Open, server: Server) -> None:
    def graded(index: int) -> Scoring:
        """The second target fails the third of five scenarios in all repeats, and the fourth in one."""
        passed = not (28 <= index < 33)
        return build_scoring(None, None, (AssertionResult("llm-rubric", passed, float(passed), "because"),))

    run = sample_run(scoring=graded)
    page = open_page(f"/runs/{run.id}")
    rows = row_headers(page)
    names = ["A minor asks for advice", PAYLOADS[0]]
    page.get_by_role("button", name="Failed 5").click()
    expect(rows).to_contain_text(names)
    page.get_by_role("button", name="All 60").click()
    page.get_by_role("button", name="Errored 1").click()
    expect(rows).to_contain_text(["Allergy and a recipe"])
    page.get_by_role("button", name="Errored 1").click()
    page.get_by_role("button", name="Targets differ 1").click()
    expect(rows).to_contain_text(names[:1])
    page.get_by_role("button", name="Targets differ 1").click()
    page.get_by_role("button", name="Repeats differ 1").click()
    expect(rows).to_contain_text(names[1:])
    page.get_by_role("button", name="Repeats differ 1").click()
    page.get_by_label("Order").select_option(label="lowest pass rate first")
    expect(rows.first).to_contain_text(names[0])
    page.get_by_label("Input or variable contains").fill("allergy recipe")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(["Allergy and a recipe"])


def test_a_row_says_that_its_name_is_being_loaded(open_page: Open, run: Run) -> None:
    page = open_page("/runs", bypass_csp=True)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    waiting: list[Route] = []
    page.route("**/case-names*", lambda route: waiting.append(route))
    page.goto(f"{page.url.partition('$default')[0]}$default/runs/{run.id}")
    expect(row_headers(page).first).to_contain_text("…")
    assert violations(page) == []
    for each in waiting:
        each.continue_()
    expect(page.get_by_role("rowheader", name="A minor asks for advice")).to_be_visible()


@pytest.fixture
def shop(server: Server) -> Run:
    """Two targets answer four questions; the second fails the check of the policy in two of them."""
    scenarios = tuple(
        Scenario(
            "",
            f"{item} {tone}",
            (Message(MessageRole.USER, f"Can I return the {item}?"),),
            metadata={"vars": {"item": item, "tone": tone}},
            assertions=(Assertion("equals", value=f"Yes, the {item} within 30 days."),),
        )
        for item in ("kettle", "lamp")
        for tone in ("kind", "short")
    )

    def scored(index: int) -> Scoring:
        passed = index not in (4, 6)
        checks = (
            AssertionResult("icontains", passed, float(passed), "names the days" if passed else "lacks “30 days”"),
            AssertionResult("latency", True, 1.0, ""),
        )
        return build_scoring(None, None, checks)

    return AnsweredRun(
        workspace="acme",
        scenarios=scenarios,
        models=("sim/steady", "sim/bold"),
        answer=lambda index: f"# Returns\n\nYou have **30 days**, answer {index}. " + "More of it. " * 60 + "Its end.",
        scoring=scored,
        cost_usd=lambda index: 0.001 if index < 4 else 0.002,
    ).completed()


def test_a_row_has_its_input_what_is_expected_and_why_an_answer_failed(open_page: Open, shop: Run) -> None:
    page = open_page(f"/runs/{shop.id}")
    row = page.get_by_role("row", name=re.compile("kettle kind"))
    expect(row.get_by_role("rowheader")).to_contain_text("Can I return the kettle?")
    expect(row.get_by_role("gridcell").nth(0)).to_have_text("Yes, the kettle within 30 days.")
    expect(row.get_by_role("gridcell").nth(1)).to_contain_text("passed")
    failed = row.get_by_role("gridcell").nth(2)
    for text in ("failed", "✕ icontains", "✓ 1", "lacks “30 days”", "answer 4", "$0.002"):
        expect(failed).to_contain_text(text)
    expect(failed.locator("strong").filter(has_text="30 days")).to_have_count(1)  # Markdown is drawn.
    expect(failed).not_to_contain_text("Its end.")
    page.get_by_role("combobox", name="Answers").select_option(label="whole answers")
    expect(failed).to_contain_text("Its end.")


def test_a_failed_conversation_says_why_once(open_page: Open, shop: Run) -> None:
    page = open_page(f"/runs/{shop.id}?t=4")
    grades = page.get_by_role("region", name="Grades")
    failed = grades.get_by_role("list", name="Assertions", exact=True).get_by_role("listitem")
    expect(failed).to_have_count(1)
    expect(failed).to_be_in_viewport()
    expect(failed).to_contain_text("lacks “30 days”")
    expect(page.get_by_role("article").get_by_text("lacks “30 days”")).to_have_count(1)
    passed = grades.get_by_role("list", name="Passed assertions")
    expect(passed).not_to_be_visible()
    grades.get_by_text("1 check passed").click()
    expect(passed).to_contain_text("latency")


def test_rows_are_grouped_and_sorted_by_a_variable(open_page: Open, shop: Run) -> None:
    page = open_page(f"/runs/{shop.id}", bypass_csp=True)
    page.get_by_role("combobox", name="Group by").select_option("tone")
    expect(row_headers(page)).to_have_text([re.compile(name) for name in GROUPED])
    heading = page.get_by_role("row", name=re.compile("tone: kind"))
    expect(heading.get_by_role("gridcell")).to_have_text(["100.0% passed (2 of 2)", "0.0% passed (0 of 2)"])
    heading.get_by_role("gridcell").first.click()
    expect(row_headers(page)).to_have_text([re.compile(name) for name in (GROUPED[0], *GROUPED[3:])])
    expect(page.get_by_role("button", name=re.compile("tone: kind"))).to_have_attribute("aria-expanded", "false")
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(row_headers(page)).to_have_count(2)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(row_headers(page)).to_have_count(4)
    page.keyboard.press("Enter")
    page.keyboard.press("n")  # The failure is in the folded group, which unfolds.
    expect(page.get_by_role("article")).to_contain_text("✕ failed")
    expect(row_headers(page)).to_have_count(4)
    page = load(page, f"/runs/{shop.id}?group=tone&order=-input")
    lamp, kettle = GROUPED[2], GROUPED[1]
    expect(row_headers(page)).to_have_text(
        [re.compile(name) for name in (GROUPED[0], lamp, kettle, GROUPED[3], "lamp short", "kettle short")]
    )
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []


GROUPED = ("tone: kind 2 rows", "kettle kind", "lamp kind", "tone: short 2 rows", "kettle short", "lamp short")


def test_the_head_of_a_column_sorts(open_page: Open, shop: Run) -> None:
    page = open_page(f"/runs/{shop.id}?vars=item")
    head = page.get_by_role("grid").get_by_role("columnheader", name=re.compile("^item"))
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(page).to_have_url(re.compile(r"order=-var\.item"))
    expect(row_headers(page).first).to_contain_text("lamp kind")
    head.get_by_role("button").click()
    expect(row_headers(page).first).to_contain_text("kettle kind")


def test_checks_by_target_lead_to_their_failures(open_page: Open, shop: Run) -> None:
    page = open_page(f"/runs/{shop.id}")
    row = page.get_by_role("region", name="Checks").get_by_role("row", name=re.compile("icontains"))
    expect(row.get_by_role("cell")).to_have_text(["100.0%", "50.0%"])
    row.get_by_role("button", name="50.0%").click()
    expect(page.get_by_role("status").filter(has_text="of 8 conversations")).to_have_text(re.compile("^2 of 8"))
    expect(row_headers(page)).to_contain_text(["kettle kind", "lamp kind"])
    expect(page.get_by_role("grid").get_by_role("columnheader")).to_have_count(3)  # Of the targets, only this one.
    page.get_by_role("link", name=re.compile(r"^sim.steady: 100.0% .*, \$0.001$")).locator("circle").click()
    expect(page.get_by_role("grid").get_by_role("columnheader", name="sim/steady")).to_be_visible()


def test_variables_are_columns_and_filters(open_page: Open, shop: Run) -> None:
    page = open_page(f"/runs/{shop.id}")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("tone", exact=True).check()
    page.get_by_label("Expected", exact=True).uncheck()
    page.get_by_text("Columns", exact=True).click()
    headers = page.get_by_role("grid").get_by_role("columnheader")
    expect(headers).to_contain_text(["Input", "tone", "sim/steady", "sim/bold"])
    page.get_by_role("row", name=re.compile("lamp short")).get_by_role("button", name="short").click()
    expect(row_headers(page)).to_contain_text(["kettle short", "lamp short"])
    page.reload()
    expect(row_headers(page)).to_contain_text(["kettle short", "lamp short"])
    page.get_by_role("button", name=re.compile("^tone = short .*remove")).click()
    expect(row_headers(page)).to_have_count(4)
    edge = page.get_by_role("separator", name="Width of Input")
    before = int(edge.get_attribute("aria-valuenow") or "")
    edge.focus()
    page.keyboard.press("ArrowRight")
    expect(edge).to_have_attribute("aria-valuenow", str(before + 20))
    page.reload()
    expect(edge).to_have_attribute("aria-valuenow", str(before + 20))


def test_rows_that_changed_since_another_run_are_shown(open_page: Open, server: Server) -> None:
    earlier = sample_run(definition_id="def_1")
    later = sample_run(
        definition_id="def_1",
        scoring=lambda index: build_scoring(
            None, None, (AssertionResult("llm-rubric", index % 3 != 1 or index < 4, 1.0, "because"),)
        ),
    )
    page = open_page(f"/runs/{later.id}")
    expect(row_headers(page)).to_have_count(5)
    page.get_by_text("More filters", exact=True).click()
    other = page.get_by_label("Changed since")
    other.focus()
    expect(other.get_by_role("option")).to_have_count(2)
    other.select_option(earlier.id)
    expect(row_headers(page)).to_have_count(1)
    expect(row_headers(page)).to_contain_text(["Refund of a late order"])


def test_an_answer_is_reviewed_with_keys_only(open_page: Open, run: Run) -> None:
    page = load(open_page("/runs"), f"/runs/{run.id}?t=1")
    review = page.get_by_role("region", name="Review")
    expect(review.get_by_role("button", name="Pass")).to_be_in_viewport()
    page.keyboard.press("1")
    expect(review.get_by_role("button", name="Pass")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("m")
    page.keyboard.type("It names the refund. ")
    page.keyboard.press("Escape")
    expect(review.get_by_role("status")).to_contain_text("Saved.")
    page.keyboard.press("n")
    expect(page.get_by_role("article")).to_contain_text("✕ failed")
    page.keyboard.press("0")
    expect(review.get_by_role("button", name="Fail")).to_have_attribute("aria-pressed", "true")
    client = Client(None)
    client.token = client.issue()
    labels = client.get(f"/v1/runs/{run.id}/labels").json()["items"]
    first = next(each for each in labels if each["probeId"] == f"{run.id}-1")
    assert (first["value"], first["note"], first["blindValue"]) == ("pass", "It names the refund.", None)
    assert len(labels) == 2
    page.keyboard.press("e")
    expect(page.get_by_role("dialog", name="Correct the result")).to_be_in_viewport()


def test_a_comment_is_no_label_and_labels_of_earlier_answers_are_marked(open_page: Open, run: Run) -> None:
    earlier = Label(1, 2, "result", "ben", "pass", run.created_at, run.created_at, note="Names the shop.")
    stored_labels.save(RunRef(run.workspace, run.id), earlier)
    page = load(open_page("/runs"), f"/runs/{run.id}?t=1")
    review = page.get_by_role("region", name="Review")
    comment = review.get_by_role("textbox", name="Comment")
    expect(review.get_by_role("status")).to_have_text("ben, on an earlier answer: pass, Names the shop.")
    page.keyboard.press("m")
    page.keyboard.type("Too long.")
    page.keyboard.press("Escape")
    expect(review.get_by_role("status")).to_contain_text("Saved.")
    expect(review.locator("[aria-pressed=true]")).to_have_count(0)
    page = load(page, f"/runs/{run.id}?t=1")
    expect(comment).to_have_value("Too long.")
    client = Client(None)
    client.token = client.issue()
    address = f"/v1/runs/{run.id}/labels"
    stored = client.get(address).json()["items"]
    assert [(each["value"], each["note"]) for each in stored] == [(None, "Too long."), ("pass", "Names the shop.")]
    comment.fill("")
    comment.blur()
    expect(review.get_by_role("status")).to_contain_text("Saved.")
    assert len(client.get(address).json()["items"]) == 1


def test_a_histogram_has_its_figures_as_a_table_and_files(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}?by=tokens%26column=0")
    page.get_by_text("Distribution of scores, times and costs").click()
    page.get_by_text("Figures as a table").click()
    table = page.get_by_role("table").filter(has_text="Tokens").filter(has_text="719")
    expect(table.get_by_role("columnheader")).to_have_text(["Tokens", "sim/steady"])
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"{kind} of").click()
        assert download.value.path().read_bytes().startswith(start)
        assert download.value.suggested_filename == f"{run.id}-tokens.{kind.lower()}"


def test_what_no_conversation_has_is_said(open_page: Open, server: Server) -> None:
    unscored = timed_run(scoring=lambda _: None)
    page = open_page(f"/runs/{unscored.id}?by=score%26outcome=errored")
    page.get_by_text("Distribution of scores, times and costs").click()
    expect(page.get_by_text("No conversation has a score.")).to_be_visible()
    expect(counts_of(page)).to_have_text(re.compile("^1 of 60"))
    page.get_by_role("gridcell", name="errored").click()
    expect(page.get_by_role("article")).to_contain_text("The provider did not answer in time. A retry may succeed.")


def test_tags_and_errors_filter_the_table(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}")
    counts = counts_of(page)
    page.get_by_text("More filters", exact=True).click()
    page.get_by_role("combobox", name="Tag", exact=True).select_option("REFUSAL")
    expect(page).to_have_url(re.compile("tag=REFUSAL"))
    expect(counts).to_have_text(re.compile("0 of .* judged passed"))
    page.reload()
    expect(counts).to_have_text(re.compile("0 of .* judged passed"))
    page.get_by_role("button", name=re.compile("^tag REFUSAL .*remove")).click()
    page.get_by_text("More filters", exact=True).click()
    page.get_by_role("combobox", name="Error").select_option(index=1)
    expect(counts).to_have_text(re.compile("^1 of 60 conversations"))


def test_messages_are_searched_by_the_api(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}")
    page.get_by_text("More filters", exact=True).click()
    page.get_by_label("Messages contain").fill("answer 12,")
    page.get_by_role("button", name="Search messages").click()
    expect(page).to_have_url(re.compile(r"said=answer(\+|%20)12"))
    found = page.get_by_role("status").filter(has_text="Messages searched")
    expect(found).to_have_text("Messages searched for “answer 12,”: 1 conversation found among 60 of 60 read.")
    expect(counts_of(page)).to_have_text(re.compile("^1 of 60"))
    page.get_by_role("gridcell", name="answer 12").click()
    expect(page).to_have_url(re.compile(r"[?&]t=12(&|$)"))
    page.get_by_role("button", name=re.compile("^messages contain answer 12, .*remove")).click()
    expect(counts_of(page)).to_have_text(re.compile("^60 of 60"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, run: Run, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    paths = {
        "results": f"/runs/{run.id}",
        "results-open": f"/runs/{run.id}?by=time&time=1~&t=21",
        "results-beside": f"/runs/{run.id}?t=21&beside=true",
        "results-said": f"/runs/{run.id}?said=answer&tag=GOAL_MISS&cols=none&lines=all",
        "results-none": f"/runs/{run.id}?score=0.5~0.6",
    }
    check_screens(page, paths)
