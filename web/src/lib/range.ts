type Typed = number | string | undefined;

/** Sets one end of the list; returns undefined once it has neither. */
export function withEnd(ends: readonly unknown[], end: 0 | 1, value: Typed): unknown[] | undefined {
  const other = ends[1 - end] ?? null;
  const typed = value ?? null;
  if (typed === null && other === null) return undefined;
  return end === 0 ? [typed, other] : [other, typed];
}

/** Returns the error of the two numbers, and the end at which to correct it. */
export function rangeError(ends: readonly unknown[]): { end: 0 | 1; message: string } | undefined {
  const [least, most] = [ends[0] ?? null, ends[1] ?? null];
  if (least === null && most === null) return undefined;
  if (least === null) return { end: 0, message: "Both are needed, or none" };
  if (most === null) return { end: 1, message: "Both are needed, or none" };
  if (typeof least === "number" && typeof most === "number" && least >= most) {
    return { end: 1, message: "Greater than the lowest" };
  }
  return undefined;
}
