/** A list of two numbers, the lower one first, as it is typed. */

type Typed = number | string | undefined;

/** The list with one of its ends; undefined once it has neither. */
export function withEnd(ends: readonly unknown[], end: 0 | 1, value: Typed): unknown[] | undefined {
  const other = ends[1 - end] ?? null;
  const typed = value ?? null;
  if (typed === null && other === null) return undefined;
  return end === 0 ? [typed, other] : [other, typed];
}

/** What is wrong between the two, and at which end it is to be corrected. */
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
