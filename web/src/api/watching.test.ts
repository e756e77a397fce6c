// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import { onReturn } from "./watching";

const shown = (state: DocumentVisibilityState) => {
  vi.spyOn(document, "visibilityState", "get").mockReturnValue(state);
  document.dispatchEvent(new Event("visibilitychange"));
};

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("coming back asks once, though the page becomes visible and gets the focus", async () => {
  vi.useFakeTimers();
  const ask = vi.fn(() => Promise.resolve());
  const stop = onReturn(ask);
  shown("hidden");
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ask).not.toHaveBeenCalled();
  shown("visible");
  window.dispatchEvent(new Event("focus"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ask).toHaveBeenCalledTimes(1);
  window.dispatchEvent(new Event("focus"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ask).toHaveBeenCalledTimes(2);
  stop();
  window.dispatchEvent(new Event("focus"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ask).toHaveBeenCalledTimes(2);
});
