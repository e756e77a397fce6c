from typing import Any

from cupel_core.analysis.reports import requests
from cupel_core.analysis.reports.responses import report_response
from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page, fill_page, slice_page
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request


@resolves("Run.report", "getRunReport", 10)
def run_report(request: Request, source: Loaded) -> Loaded | None:
    try:
        return Loaded(report_response(requests.get_newest(request.workspace, source["id"], request.now)))
    except NotFound:
        return None


@resolves("Run.reports", "listReports")
def run_reports(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    page = slice_page(requests.list_reports(request.workspace, source["id"]), check_limit(limit), None)
    return page.map(lambda each: Loaded(report_response(each)))


@resolves("Report.conversations", "listReportConversations", 10, item_cost=2)
def conversations(request: Request, source: Loaded, first: int, after: str | None = None) -> dict[str, Any]:
    limit = check_limit(first, "first")
    entries = requests.list_conversations(request.workspace, source["runId"], source["id"], check_cursor(after))
    return connection(fill_page(entries, limit).map(Loaded))
