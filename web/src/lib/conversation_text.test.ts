import { expect, test } from "vitest";
import {
  callNames,
  conversationText,
  fileText,
  indentedJson,
  type Said,
  saidText,
  withWhiteSpace,
} from "./conversation_text";

const CALL = { id: "call_1", name: "find_order", arguments: '{"number":"A-17"}' };
const MESSAGES: readonly Said[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "Where is it?" },
      { type: "image", name: "label.png", mediaType: "image/png", width: 80, height: 60, size: 12_034 },
    ],
  },
  { role: "assistant", content: "", toolCalls: [CALL] },
  { role: "tool", content: "on its way", toolCallId: "call_1" },
];

test("a conversation is copied with who said what, its files and its calls", () => {
  expect(conversationText(MESSAGES)).toBe(
    [
      "User: Where is it?\n[image: label.png, PNG, 80 × 60, 12,034 bytes]",
      'Model: \nfind_order({"number":"A-17"})',
      "Tool: on its way",
    ].join("\n\n"),
  );
  expect(callNames(MESSAGES).get("call_1")).toBe("find_order");
});

test("a file without a name is named by its id", () => {
  expect(fileText({ type: "file", fileId: "file_1" })).toBe("file: file_1");
  expect(fileText({ type: "file" })).toBe("file: without a name");
  expect(saidText({ role: "user", content: [{ type: "text" }] })).toBe("");
});

test("only objects and lists are indented", () => {
  expect(indentedJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  for (const each of ["12", "text", "{no json", ""]) expect(indentedJson(each)).toBeNull();
});

test("white space that no one sees has signs", () => {
  expect(withWhiteSpace("a \t b  \r\n c ")).toBe("a →\t b··␍↵\n c·");
});
