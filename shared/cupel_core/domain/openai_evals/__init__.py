"""Expresses OpenAI's Evals API in terms of Cupel: graders as assertions, rows of data as scenarios, sampling as
parameters."""
