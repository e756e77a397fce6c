"""Reports of runs: which conversations they show, and how far graders agree."""
