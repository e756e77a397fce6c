// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import {
  endSession,
  forgetToken,
  isSessionEnded,
  readToken,
  renewIfDue,
  renewWith,
  storeToken,
  watchSession,
} from "./session";

afterEach(() => {
  vi.useRealTimers();
  storeToken("");
  forgetToken();
});

test("a remembered token outlives the tab for twelve hours", () => {
  vi.useFakeTimers();
  storeToken("cupel_secret", true);
  const stored = localStorage.getItem("cupel.remembered") ?? "";
  forgetToken();
  expect(readToken()).toBeNull();
  localStorage.setItem("cupel.remembered", stored);
  vi.advanceTimersByTime(12 * 3_600_000 - 1);
  expect(readToken()).toBe("cupel_secret");
  vi.advanceTimersByTime(2);
  expect(readToken()).toBeNull();
  expect(localStorage.getItem("cupel.remembered")).toBeNull();
});

test("an ended session has no token until the next one, and tells those who watch", () => {
  const changed = vi.fn();
  const stop = watchSession(changed);
  storeToken("one");
  endSession();
  endSession();
  expect([readToken(), isSessionEnded(), changed.mock.calls.length]).toEqual([null, true, 1]);
  storeToken("two");
  expect([readToken(), isSessionEnded(), changed.mock.calls.length]).toEqual(["two", false, 2]);
  stop();
});

test("a token is renewed once, a minute before it ends, by whoever asks first", async () => {
  const renew = vi.fn(async () => storeToken("new"));
  storeToken("old");
  renewWith({ expiresAt: 100_000, renew });
  await renewIfDue(39_999);
  expect(renew).not.toHaveBeenCalled();
  await Promise.all([renewIfDue(40_000), renewIfDue(40_001)]);
  expect([readToken(), renew.mock.calls.length]).toEqual(["new", 1]);
});

test("a token that cannot be renewed is used as it is", async () => {
  storeToken("old");
  renewWith({ expiresAt: 0, renew: () => Promise.reject(new Error("refused")) });
  await renewIfDue();
  await renewIfDue();
  expect(readToken()).toBe("old");
});
