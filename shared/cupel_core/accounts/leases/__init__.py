"""Leases on provider accounts: every call of a model, whatever it is for, is made within one."""

from cupel_core.accounts.leases.pool import LeasePool

__all__ = ["LeasePool"]
