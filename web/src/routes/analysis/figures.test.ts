import { expect, test } from "vitest";
import { figure, signed } from "./figures";

test("a figure that rounds to nothing has no sign", () => {
  expect([figure(-0.001), signed(0.001), signed(-0.001)]).toEqual(["0.00", "0.00", "0.00"]);
});

test("signs are written", () => {
  expect([signed(0.3), signed(-0.3), signed(null), figure(undefined)]).toEqual([
    "+0.30",
    "-0.30",
    "unknown",
    "unknown",
  ]);
});
