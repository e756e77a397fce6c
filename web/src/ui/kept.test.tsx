// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { forgetForm, keyOf, useKept } from "./kept";

afterEach(() => sessionStorage.clear());

test("a field is kept until its form is forgotten", () => {
  const { result, unmount } = renderHook(() => useKept("scale", "system", ""));
  act(() => result.current[1]("Be brief."));
  unmount();
  expect(renderHook(() => useKept("scale", "system", "")).result.current[0]).toBe("Be brief.");
  expect(renderHook(() => useKept("new", "system", () => "other")).result.current[0]).toBe("other");
  forgetForm("scale");
  expect(renderHook(() => useKept("scale", "system", "")).result.current[0]).toBe("");
});

test("the same request has the same key until it has succeeded, and another one its own", () => {
  const key = keyOf("scale", { count: 1 });
  expect(keyOf("scale", { count: 1 })).toBe(key);
  expect(keyOf("new", { count: 1 })).not.toBe(key);
  expect(keyOf("scale", { count: 2 })).not.toBe(key);
  const again = keyOf("scale", { count: 2 });
  forgetForm("scale");
  expect(keyOf("scale", { count: 2 })).not.toBe(again);
});
