import { expect, test } from "vitest";
import document from "../../../docs/openapi.json?raw";
import { eventName } from "./event_names";

const { schemas } = (
  JSON.parse(document) as { components: { schemas: { RunEventType: { enum: string[] } } } }
).components;

test("every type of event has a name in words, and no two have the same", () => {
  const types = schemas.RunEventType.enum;
  expect(types.length).toBeGreaterThan(10);
  expect(types.filter((each) => eventName(each) === each)).toEqual([]);
  expect(new Set(types.map(eventName)).size).toBe(types.length);
});

test("an unknown type is shown as it is", () => {
  expect(eventName("run.other")).toBe("run.other");
  expect(eventName("toString")).toBe("toString");
});
