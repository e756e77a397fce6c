"""Makes the written report of a run: figures, failure modes with sample conversations, agreement between graders."""
