// @vitest-environment happy-dom
import { act, cleanup, fireEvent, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Keys, listKeys, switchKeys, useKeys } from "./keys";

const pressed: string[] = [];
const noting = (...names: string[]): Keys =>
  Object.fromEntries(names.map((name) => [name, { does: name, act: () => pressed.push(name) }]));
const show = (title: string, keys: Keys) =>
  renderHook((current: Keys) => useKeys(title, current), { initialProps: keys });
const press = (key: string, options: KeyboardEventInit = {}, target: Element = document.body) =>
  fireEvent.keyDown(target, { key, ...options });

beforeEach(() => {
  vi.useFakeTimers();
  pressed.length = 0;
});
afterEach(() => {
  cleanup();
  act(() => switchKeys(true));
  vi.useRealTimers();
  document.body.replaceChildren();
});

test("a key acts with the latest action of its screen, and with none once the screen is left", () => {
  const { rerender, unmount } = show("screen", noting("n"));
  press("n");
  rerender({ n: { does: "n", act: () => pressed.push("later") } });
  press("n");
  unmount();
  press("n");
  expect(pressed).toEqual(["n", "later"]);
});

test("two keys in sequence act together, and neither of them alone", () => {
  show("page", noting("g r", "r"));
  press("g");
  press("r");
  press("r");
  expect(pressed).toEqual(["g r", "r"]);
});

test("a sequence ends with an unknown key, and after a while", () => {
  show("page", noting("g r", "r", "n"));
  press("g");
  press("n");
  press("r");
  press("g");
  vi.advanceTimersByTime(2_000);
  press("r");
  expect(pressed).toEqual(["r", "r"]);
});

test("keys that are only listed begin no sequence", () => {
  show("list", { ...noting("k"), "j or ArrowDown": { does: "go to the next row" } });
  press("j");
  press("k");
  expect(pressed).toEqual(["k"]);
});

test("Shift does not end a sequence", () => {
  show("page", noting("g ?"));
  press("g");
  press("Shift", { shiftKey: true });
  press("?", { shiftKey: true });
  expect(pressed).toEqual(["g ?"]);
});

test.each(["ctrlKey", "altKey", "metaKey"])("no key acts with %s", (modifier) => {
  show("page", noting("k", "Escape"));
  press("k", { [modifier]: true });
  press("Escape", { [modifier]: true });
  expect(pressed).toEqual([]);
});

test("a character that needs AltGr acts, although browsers report Ctrl and Alt", () => {
  show("page", noting("["));
  press("[", { ctrlKey: true, altKey: true, modifierAltGraph: true });
  expect(pressed).toEqual(["["]);
});

test.each(["input", "select", "textarea"])("no key acts in a %s, or while text is composed", (tag) => {
  show("page", noting("k"));
  const field = document.body.appendChild(document.createElement(tag));
  press("k", {}, field);
  press("k", { isComposing: true });
  expect(pressed).toEqual([]);
});

test("no key acts behind an open dialog, or after an element has handled it", () => {
  show("page", noting("k"));
  const list = document.body.appendChild(document.createElement("ul"));
  list.addEventListener("keydown", (event) => event.preventDefault());
  press("k", {}, list);
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.setAttribute("open", "");
  press("k");
  expect(pressed).toEqual([]);
});

test("switched off, keys of one character do not act, and others do", () => {
  show("page", noting("k", "g r", "Escape"));
  act(() => switchKeys(false));
  for (const key of ["k", "g", "r", "Escape"]) press(key);
  expect(localStorage.getItem("cupel.keys")).toBe("off");
  act(() => switchKeys(true));
  press("k");
  expect(pressed).toEqual(["Escape", "k"]);
});

test("the panel that was shown last takes a key from the screen, unless it has nothing to act on", () => {
  show("screen", { j: { does: "next row", act: () => pressed.push("row") } });
  let isOpen = true;
  show("panel", { j: { does: "next message", act: () => pressed.push("message"), isUsable: () => isOpen } });
  press("j");
  expect(listKeys()).toEqual([{ title: "panel", keys: [{ key: "j", does: "next message" }] }]);
  isOpen = false;
  press("j");
  expect(pressed).toEqual(["message", "row"]);
  expect(listKeys()).toEqual([{ title: "screen", keys: [{ key: "j", does: "next row" }] }]);
});

test("keys that an element handles itself are listed, and left to it", () => {
  show("list", { Enter: { does: "open the row" } });
  expect(press("Enter")).toBe(true);
  expect(listKeys()[0]?.keys).toEqual([{ key: "Enter", does: "open the row" }]);
});
