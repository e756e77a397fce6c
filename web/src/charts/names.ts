import { visible } from "../lib/format";

const MAX_NAME = 30;

/** Shortens a name to the space beside a drawing. */
export function shortened(name: string): string {
  const shown = visible(name);
  return shown.length > MAX_NAME ? `${shown.slice(0, MAX_NAME - 1)}…` : shown;
}
