import { expect, test } from "vitest";
import { parseEventStream } from "./event_stream";

test("an event ends with an empty line", () => {
  const text =
    'retry: 2000\n\nid: 3\nevent: run.paused\ndata: {"seq":3}\n\nevent: run.progress\ndata: {}\n\ndata: cut';
  expect(parseEventStream(text)).toEqual([
    { type: "run.paused", data: '{"seq":3}' },
    { type: "run.progress", data: "{}" },
  ]);
});

test("lines end in each of three ways, data may have several, and comments say nothing", () => {
  expect(parseEventStream("\ufeff: hello\r\ndata: a\r\ndata:b\r\rdata\n\n")).toEqual([
    { type: "message", data: "a\nb" },
    { type: "message", data: "" },
  ]);
});
