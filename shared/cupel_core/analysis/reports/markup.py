"""Builds HTML in which only elements are markup and every text is escaped."""

from html import escape

from cupel_core.base.deferred import dataclass
from cupel_core.domain.text.control_characters import without_control_characters

_VOID = frozenset({"meta", "rect", "line", "path", "circle"})

type MarkupNode = "Element | str"


@dataclass(frozen=True)
class Element:
    """Represents an element. Its names are constants; values of attributes and texts may come from anybody."""

    name: str
    children: tuple[MarkupNode, ...]
    attributes: tuple[tuple[str, str], ...] = ()

    def render(self) -> str:
        attributes = "".join(f' {name}="{_text(value)}"' for name, value in self.attributes)
        if self.name in _VOID:
            return f"<{self.name}{attributes}/>"
        return f"<{self.name}{attributes}>{''.join(map(_render, self.children))}</{self.name}>"


def element(name: str, /, *children: MarkupNode, **attributes: str | float) -> Element:
    """Return an element; `class_` becomes the attribute `class`, and `stroke_width` becomes `stroke-width`."""
    named = tuple((key.rstrip("_").replace("_", "-"), _number(value)) for key, value in attributes.items())
    return Element(name, children, named)


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _render(node: MarkupNode) -> str:
    return node.render() if isinstance(node, Element) else _text(node)


def _text(text: str) -> str:
    return escape(without_control_characters(text))
