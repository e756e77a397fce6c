"""Budgets: every call of a model in a run with a budget is paid from an allowance that its worker has drawn."""
