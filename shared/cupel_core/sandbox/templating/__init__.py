"""Templates that users write, rendered with Jinja in a sandbox: no code, no files, no environment variables, bounded
work.

The limits are those of the language. Where a template's time matters, it is rendered in a helper process
(cupel_core/sandbox).
"""
