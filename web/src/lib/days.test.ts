import { expect, test } from "vitest";
import { parseDay, startOf } from "./days";

test("a day is a date without a time", () => {
  expect(parseDay("2026-11-20")).toBe("2026-11-20");
  for (const other of ["2026-13-40", "20.11.2026", "2026-11-20T10:00", "", undefined])
    expect(parseDay(other)).toBeUndefined();
});

test("a day begins at midnight where the reader is, and ends where the next one begins", () => {
  expect(new Date(startOf("2026-11-30")).getHours()).toBe(0);
  expect(new Date(startOf("2026-11-30", 1)).getDate()).toBe(1);
  expect(Date.parse(startOf("2026-11-30", 1)) - Date.parse(startOf("2026-11-30"))).toBeGreaterThan(
    80_000_000,
  );
});
