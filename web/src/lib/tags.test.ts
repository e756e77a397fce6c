import { expect, test } from "vitest";
import { countTags } from "./tags";

test("tags are counted by conversation, over blocks that number them differently", () => {
  const blocks = [
    { tagNames: ["REFUSAL", "GOAL_MISS"], tags: [[0, 0], [], [1], [0, 1]] },
    { tagNames: ["GOAL_MISS", "A"], tags: [[0], [1], [7]] },
  ];
  expect(countTags(blocks)).toEqual([
    { tag: "GOAL_MISS", count: 3 },
    { tag: "REFUSAL", count: 2 },
    { tag: "A", count: 1 },
  ]);
  expect(countTags([])).toEqual([]);
});
