"""All operations by id, with their declarations."""

from cupel_core.interfaces.routes import load_all

_ALL = load_all()
OPERATIONS = {each.id: each for each in _ALL if not each.is_of_openai}
OPENAI_OPERATIONS = {each.id: each for each in _ALL if each.is_of_openai}
