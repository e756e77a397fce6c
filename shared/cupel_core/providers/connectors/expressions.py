"""JMESPath, the expression language that maps an agent's own JSON."""

import jmespath
from jmespath.exceptions import JMESPathError

MAX_EXPRESSION_LENGTH = 2000


def expression_error(expression: str) -> str | None:
    """Why an expression is invalid, whatever it is applied to; None if it is valid."""
    if len(expression) > MAX_EXPRESSION_LENGTH:
        return f"must be at most {MAX_EXPRESSION_LENGTH} characters"
    try:
        jmespath.compile(expression)
    except JMESPathError as error:
        return f"is not a valid JMESPath expression: {_first_line(error)}"
    except RecursionError:
        return "is nested too deeply"
    return None


def evaluate_expression(expression: str, value: object) -> object:
    """The value the expression selects. Raises ValueError if it cannot be applied, for example an unknown function."""
    try:
        return jmespath.search(expression, value)
    except JMESPathError as error:
        raise ValueError(_first_line(error)) from error


def _first_line(error: JMESPathError) -> str:
    """The first line of the error; the others repeat the expression."""
    text = str(error).removeprefix("Invalid jmespath expression: ")
    return text.partition("\n")[0].partition(", for expression")[0].rstrip(":")
