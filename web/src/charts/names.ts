import { visible } from "../lib/format";

const MAX_NAME = 30;

/** As much of a name as fits beside a drawing. */
export function shortened(name: string): string {
  const shown = visible(name);
  return shown.length > MAX_NAME ? `${shown.slice(0, MAX_NAME - 1)}…` : shown;
}
