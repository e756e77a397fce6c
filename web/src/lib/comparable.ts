interface Listed {
  readonly id: string;
  readonly definitionId: string;
}

export interface ByComparability<T> {
  readonly comparable: readonly T[];
  readonly others: readonly T[];
}

/** Groups runs by whether they have the definition of a chosen one; differences are paired by its scenarios. */
export function byComparability<T extends Listed>(
  runs: readonly T[],
  chosen: ReadonlySet<string>,
): ByComparability<T> {
  const definitions = new Set(runs.filter((run) => chosen.has(run.id)).map((run) => run.definitionId));
  const isComparable = (run: T) => definitions.has(run.definitionId);
  return {
    comparable: runs.filter((run) => isComparable(run)),
    others: runs.filter((run) => !isComparable(run)),
  };
}
