"""Which templates may be rendered in the worker's own process, where nothing limits CPU time and memory.

An allowlist: what a template may be made of costs at most a pass over its variables. There is no way to make a value
grow: no assignments, blocks, loops, lists or arithmetic, and filters give no more than they get. So the constants that
the compiler computes in advance cost no more either.
"""

from functools import lru_cache

from jinja2 import nodes

from cupel_core.sandbox.templating.environment import LimitedEnvironment
from cupel_core.sandbox.templating.errors import RenderError

MAX_LENGTH = 10_000
_MAX_NODES = 200
_MAX_DEPTH = 30
"""Jinja's compiler takes a time that grows with its square or more: 0.9 s for `a` and 180 attributes."""
_MAX_FILTERS = 20
"""Together with calls of functions."""
_FUNCTIONS = frozenset(["recent", "recent_text"])
_NODES = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.If,
    nodes.Name,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Slice,
    nodes.Const,
    nodes.CondExpr,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Neg,
    nodes.Keyword,
    nodes.Filter,
    nodes.Test,
    nodes.Call,
)
_FILTERS = frozenset(
    ["capitalize", "first", "float", "int", "json", "last", "length", "lower", "string", "trim", "upper"]
)
_FILTERS_WITH_ARGUMENTS = frozenset(["contains", "d", "default", "truncate"])
_TESTS = frozenset(
    ["boolean", "defined", "false", "in", "mapping", "none", "number", "sequence", "string", "true", "undefined"]
)


@lru_cache(maxsize=256)
def is_quick_template(environment: LimitedEnvironment, template: str) -> bool:
    """Whether a rendering takes well below a millisecond with ordinary variables, and milliseconds with any."""
    if len(template) > MAX_LENGTH:
        return False
    try:
        tree = environment.tree(template)
    except RenderError:
        return False
    level, parts = list[nodes.Node]([tree]), list[nodes.Node]()
    for _ in range(_MAX_DEPTH):
        parts += level
        level = [child for node in level for child in node.iter_child_nodes()]
    costly = sum(isinstance(each, nodes.Filter | nodes.Call) for each in parts)
    is_small = not level and len(parts) <= _MAX_NODES and costly <= _MAX_FILTERS
    return is_small and all(map(_is_quick, parts))


def _is_quick(node: nodes.Node) -> bool:
    match node:
        case nodes.Filter():
            has_arguments = bool(node.args or node.kwargs or node.dyn_args or node.dyn_kwargs)
            return node.name in _FILTERS_WITH_ARGUMENTS or (node.name in _FILTERS and not has_arguments)
        case nodes.Test():
            return node.name in _TESTS
        case nodes.Call():
            return isinstance(node.node, nodes.Name) and node.node.name in _FUNCTIONS
    return type(node) in _NODES
