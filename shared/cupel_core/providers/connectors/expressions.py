"""JMESPath, the little language in which an agent's own JSON is mapped."""

import jmespath
from jmespath.exceptions import JMESPathError

MAX_EXPRESSION = 2000


def expression_complaint(expression: str) -> str | None:
    """What is wrong with an expression, whatever it will be used on."""
    if len(expression) > MAX_EXPRESSION:
        return f"must be at most {MAX_EXPRESSION} characters"
    try:
        jmespath.compile(expression)
    except JMESPathError as error:
        return f"is no JMESPath expression: {_gist(error)}"
    except RecursionError:
        return "is nested too deeply"
    return None


def found(expression: str, value: object) -> object:
    """What the expression finds; raises ValueError where it cannot be applied, for example an unknown function."""
    try:
        return jmespath.search(expression, value)
    except JMESPathError as error:
        raise ValueError(_gist(error)) from error


def _gist(error: JMESPathError) -> str:
    """Its first line; the others show the expression again."""
    text = str(error).removeprefix("Invalid jmespath expression: ")
    return text.partition("\n")[0].partition(", for expression")[0].rstrip(":")
