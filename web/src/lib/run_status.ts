/** The statuses of a run. */

const TERMINAL = new Set(["COMPLETED", "FAILED", "CANCELLED"]);

export function isTerminal(status: string): boolean {
  return TERMINAL.has(status);
}
