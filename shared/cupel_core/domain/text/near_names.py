from collections.abc import Mapping, Sequence


def near_name(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that is most similar, ignoring case; None if none is."""
    from difflib import get_close_matches  # is only needed when something is misspelled

    folded = {each.casefold(): each for each in reversed(known)}
    return next((folded[near] for near in get_close_matches(name.casefold(), folded, 1)), None)


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return `; did you mean sim/steady?`, to follow an error about an unknown name; empty if none is similar."""
    near = near_name(name, known)
    return f"; did you mean {near}?" if near else ""


def unknown_field_message(name: str, known: Sequence[str], elsewhere: Mapping[str, str] | None = None) -> str:
    """Return an error about an unknown field, with a suggestion.

    `elsewhere` has the paths of fields that belong into an object of this one, by their names. If a known field and one
    elsewhere are equally near, the known one is suggested.
    """
    paths = {**(elsewhere or {}), **{each: each for each in known}}
    near = paths.get(near_name(name, list(paths)) or "")
    hint = f" (did you mean {near}?)" if near else ""
    return f"is not a known field{hint}; known fields: {', '.join(known)}"
