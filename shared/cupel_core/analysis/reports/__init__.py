"""The written account of a run: figures, failure modes with sample conversations, agreement between graders."""
