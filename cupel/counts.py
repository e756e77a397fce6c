from cupel_core.domain.text.counts import count_of

__all__ = ["count_of"]
