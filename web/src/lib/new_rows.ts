/** Counts the rows before the one that was first when the list was shown; 0 if that row is gone. */
export function countNew(ids: readonly string[], first: string | null): number {
  return first === null ? 0 : Math.max(0, ids.indexOf(first));
}
