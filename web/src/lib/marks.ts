export interface Place {
  readonly x: number;
  readonly y: number;
}

type Way = (dx: number, dy: number) => readonly [along: number, across: number];

/** As in a drawing, y grows downwards. */
const WAYS = new Map<string, Way>([
  ["ArrowLeft", (dx, dy) => [-dx, dy]],
  ["ArrowRight", (dx, dy) => [dx, dy]],
  ["ArrowUp", (dx, dy) => [-dy, dx]],
  ["ArrowDown", (dx, dy) => [dy, dx]],
]);

/** Each takes the position of the mark in the order, and the number of marks. */
const STEPS = new Map<string, (position: number, count: number) => number>([
  ["PageDown", (position) => position + 1],
  ["PageUp", (position) => position - 1],
  ["Home", () => 0],
  ["End", (_, count) => count - 1],
]);

/**
 * Returns the mark that a key leads to: arrows to the nearest one in their direction, Page Down and Page Up to the next
 * and previous one from left to right, which reach every mark. It is undefined for other keys, and the same mark if
 * there is none.
 */
export function markAfter(places: readonly Place[], from: number, key: string): number | undefined {
  const way = WAYS.get(key);
  if (way) return nearest(places, from, way) ?? from;
  const step = STEPS.get(key);
  if (!step) return undefined;
  const order = places.map((_, index) => index).sort((one, other) => compared(places, one, other));
  return order[step(order.indexOf(from), order.length)] ?? from;
}

/** Orders marks from left to right, and from top to bottom where they lie above each other. */
function compared(places: readonly Place[], one: number, other: number): number {
  const [a, b] = [places[one], places[other]];
  return a && b ? a.x - b.x || a.y - b.y || one - other : 0;
}

/** Returns the nearest mark within 45° of the direction, or else the nearest one on that side. */
function nearest(places: readonly Place[], from: number, way: Way): number | undefined {
  const origin = places[from];
  if (!origin) return undefined;
  let found: { index: number; isAside: boolean; distance: number } | undefined;
  places.forEach((place, index) => {
    const [along, across] = way(place.x - origin.x, place.y - origin.y);
    if (along <= 0) return;
    const [isAside, distance] = [Math.abs(across) > along, Math.hypot(along, across)];
    const isBetter =
      found === undefined || (isAside === found.isAside ? distance < found.distance : found.isAside);
    if (isBetter) found = { index, isAside, distance };
  });
  return found?.index;
}
