import { expect, test } from "vitest";
import { delayText, splitDelays } from "./delays";

const NONE = {
  provider: null,
  model: null,
  until: null,
  message: null,
  limit: null,
  learnedLimit: null,
  budget: null,
  takenSlots: null,
  staggerMs: null,
} as const;
const text = (delay: Parameters<typeof delayText>[0]) => delayText(delay, (until) => `at ${until}`);

test("each reason says who holds it up, until when, and why", () => {
  const openai = { ...NONE, provider: "openai" };
  expect(text({ ...openai, reason: "throttled", until: "9:30" })).toBe("openai throttles until at 9:30");
  expect(text({ ...openai, reason: "learned_limit", limit: 20, learnedLimit: 8 })).toBe(
    "openai sustains 8 of 20 parallel requests",
  );
  expect(text({ ...openai, reason: "model_suspended", model: "openai/x", message: "429" })).toBe(
    "openai/x is suspended: 429",
  );
  expect(text({ ...openai, reason: "higher_priority", limit: 20, takenSlots: 16 })).toBe(
    "work of higher priority takes 16 of 20 parallel requests to openai",
  );
  expect(text({ ...openai, reason: "chat_reservation", limit: 20, takenSlots: 2 })).toBe(
    "2 of 20 parallel requests to openai are reserved for chats",
  );
  expect(text({ ...NONE, reason: "run_limit", limit: 3, staggerMs: [200, 400] })).toBe(
    "the run limits itself: 3 conversations at a time, 200 to 400 ms between two starts",
  );
  expect(text({ ...NONE, reason: "budget", budget: "day" })).toBe(
    "the workspace's budget for the day has too little left for the next call: the rest is reserved for others",
  );
  expect(text({ ...openai, reason: "queue_paused" })).toBe("the queue of openai is paused");
  expect(text({ ...NONE, reason: "run_paused", message: "by a user" })).toBe("the run is paused: by a user");
});

test("what is not known is not made up", () => {
  expect(text({ ...NONE, reason: "learned_limit" })).toBe("the provider sustains fewer parallel requests");
  expect(text({ ...NONE, reason: "higher_priority" })).toBe(
    "work of higher priority takes some parallel requests to the provider",
  );
  expect(text({ ...NONE, reason: "model_suspended" })).toBe("a model is suspended");
});

test("what delays the whole run is said once, and the rest at each target", () => {
  const paused = { ...NONE, reason: "run_paused", message: "by request" } as const;
  const throttled = { ...NONE, reason: "throttled", provider: "openai" } as const;
  const [one, other] = [{ delays: [paused] }, { delays: [paused, throttled] }];
  expect(splitDelays([one, other])).toEqual({
    ofRun: paused,
    ofTargets: [
      { target: one, delays: [] },
      { target: other, delays: [throttled] },
    ],
  });
  expect(splitDelays([{ delays: [throttled] }]).ofRun).toBe(undefined);
});
