"""Lays out tables: whole lines in a pipe, columns on a terminal if it is wide enough, otherwise a block per row.

No column but those of texts is ever folded, so that ids can be copied, and nothing is ever cut.
"""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.table import Column, Table
from rich.text import Text

from cupel.terminal import NO_VALUE

_GAP = 2
_INDENT = 2
_MIN_TEXT_WIDTH = 16


def table(*headings: str, right: Sequence[str] = (), texts: Sequence[str] = ()) -> Table:
    """Return a table of markup. `right` are the columns of numbers, `texts` those that a narrow terminal may fold."""
    columns = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold", pad_edge=False)
    for heading in headings:
        justify = "right" if heading in right else "left"
        columns.add_column(heading, justify=justify, overflow="fold", no_wrap=heading not in texts)  # type: ignore[arg-type]
    return columns


def fits(columns: Table, width: int | None) -> bool:
    return width is None or _minimum_width(columns) <= width


def layout(columns: Table, width: int | None) -> Iterator[Table | Text]:
    """Yield lines of a pipe if `width` is None, else the table, else lines with a block per row."""
    if width is not None and fits(columns, width):
        yield columns
        return
    if width is None:
        yield from _lines(columns)
    else:
        for row in _rows(columns):
            yield from _block([str(column.header) for column in columns.columns], row, width)
    if columns.caption:
        yield Text(str(columns.caption))


def _minimum_width(columns: Table) -> int:
    widths = _widths(columns)
    needed = (
        width if column.no_wrap else min(width, _MIN_TEXT_WIDTH)
        for column, width in zip(columns.columns, widths, strict=True)
    )
    return sum(needed) + _GAP * (len(widths) - 1)


def _widths(columns: Table) -> list[int]:
    return [max(map(_width, _texts(column))) for column in columns.columns]


def _width(text: Text) -> int:
    return cell_len(text.plain)


def _texts(column: Column) -> Iterator[Text]:
    yield Text(str(column.header), style="bold")
    yield from (Text.from_markup(str(cell), emoji=False) for cell in column.cells)


def _rows(columns: Table) -> Iterator[tuple[Text, ...]]:
    rows = zip(*map(_texts, columns.columns), strict=True)
    next(rows)
    return rows


def _lines(columns: Table) -> Iterator[Text]:
    widths = _widths(columns)
    for row in zip(*map(_texts, columns.columns), strict=True):
        line = Text(" " * _GAP).join(
            _padded(text, width, column) for text, width, column in zip(row, widths, columns.columns, strict=True)
        )
        line.rstrip()
        yield line


def _padded(text: Text, width: int, column: Column) -> Text:
    padding = Text(" " * (width - _width(text)))
    return padding + text if column.justify == "right" else text + padding


def _block(headings: Sequence[str], row: Sequence[Text], width: int) -> Iterator[Text]:
    items = [_item(*pair) for pair in zip(headings, row, strict=True) if pair[1].plain not in ("", NO_VALUE)]
    line = items[0] if items else Text()
    is_first = True
    for item in items[1:]:
        if is_first or _width(line) + _GAP + _width(item) > width:
            yield line
            line, is_first = Text(" " * _INDENT) + item, False
        else:
            line = line + Text(" " * _GAP) + item
    yield line


def _item(heading: str, cell: Text) -> Text:
    return Text.assemble((f"{heading} ", "dim"), cell) if heading else cell
