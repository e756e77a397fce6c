export interface QueueView {
  readonly pending: number;
  readonly granted: number;
  readonly deadLetters: number;
  readonly workers: number;
  readonly paused: boolean;
  readonly throttledUntil: string | null;
  readonly limit: number | null;
  readonly learnedLimit: number | null;
  readonly suspendedModels: readonly { model: string; until: string; reason: string }[];
}

/** Tells whether nothing waits, runs, failed or is delayed. */
export function isIdle(queue: QueueView): boolean {
  const counts = [
    queue.pending,
    queue.granted,
    queue.deadLetters,
    queue.workers,
    queue.suspendedModels.length,
  ];
  return counts.every((each) => each === 0) && !queue.paused && queue.throttledUntil === null;
}

export function queueStates(queue: QueueView, format: (time: string) => string): string[] {
  const states = [
    queue.paused && "paused by this workspace",
    queue.throttledUntil !== null && `refuses calls until ${format(queue.throttledUntil)}`,
    queue.learnedLimit !== null && `sustains ${queue.learnedLimit} parallel requests`,
    ...queue.suspendedModels.map(
      (each) => `${each.model} is not called until ${format(each.until)}: ${each.reason}`,
    ),
  ].filter((each) => each !== false);
  return states.length > 0 ? states : ["normal"];
}
