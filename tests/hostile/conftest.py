from tests.unit.conftest import finish_starts

__all__ = ["finish_starts"]
