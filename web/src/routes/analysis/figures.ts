import { UNKNOWN } from "../../lib/format";

export function figure(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : value.toFixed(2).replace(/^-(?=0\.00$)/, "");
}

/** With its sign, also above 0. */
export function signed(value: number | null | undefined): string {
  return value !== null && value !== undefined && value >= 0.005 ? `+${value.toFixed(2)}` : figure(value);
}
