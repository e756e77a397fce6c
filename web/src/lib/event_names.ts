const NAMES: Readonly<Record<string, string>> = {
  "run.created": "Run created",
  "run.started": "Run started",
  "run.phase_changed": "All conversations ended",
  "run.paused": "Run paused",
  "run.resumed": "Run resumed",
  "run.cancelled": "Run cancelled",
  "run.reopened": "Run reopened",
  "run.finished": "Run finished",
  "run.updated": "Name, tags or metadata changed",
  "run.budget": "Part of the budget used",
  "run.report": "Report finished",
  "run.recovered": "Interrupted work resumed",
  "run.progress": "Progress",
  "comparison.finished": "Comparison finished",
  "analysis.finished": "Analysis finished",
};

/** An event of a later release is shown as it is. */
export function eventName(type: string): string {
  return Object.hasOwn(NAMES, type) ? (NAMES[type] ?? type) : type;
}
