import fc from "fast-check";
import { expect, test } from "vitest";
import { type Block, type Inline, MAX_MARKDOWN, parseMarkdown } from "./markdown";

const text = (value: string): Inline => ({ kind: "text", text: value });
const paragraph = (...children: Inline[]): Block => ({ kind: "paragraph", children });

test("blocks and words have the form that their marks say", () => {
  expect(parseMarkdown("## A *b* **c** ~~d~~ `e`")).toEqual([
    {
      kind: "heading",
      depth: 2,
      children: [
        text("A "),
        { kind: "emphasis", children: [text("b")] },
        text(" "),
        { kind: "strong", children: [text("c")] },
        text(" "),
        { kind: "delete", children: [text("d")] },
        text(" "),
        { kind: "code", text: "e" },
      ],
    },
  ]);
  expect(parseMarkdown("```py\nx = 1\n```")).toEqual([{ kind: "code", language: "py", text: "x = 1" }]);
  expect(parseMarkdown("> a\n\n---")).toEqual([
    { kind: "quote", children: [paragraph(text("a"))] },
    { kind: "rule" },
  ]);
});

test("lists have their numbers and tasks", () => {
  expect(parseMarkdown("3. a\n4. b")).toMatchObject([{ kind: "list", isOrdered: true, start: 3 }]);
  expect(parseMarkdown("- [x] a\n- [ ] b\n- c")).toMatchObject([
    { items: [{ checked: true }, { checked: false }, { checked: null }] },
  ]);
});

test("tables have their cells", () => {
  expect(parseMarkdown("| a | b |\n|---|--:|\n| 1 | 2 |")).toEqual([
    {
      kind: "table",
      align: [null, "right"],
      rows: [
        [[text("a")], [text("b")]],
        [[text("1")], [text("2")]],
      ],
    },
  ]);
});

test("HTML is text, in blocks and within them", () => {
  const block = "<script>alert(1)</script>";
  expect(parseMarkdown(block)).toEqual([paragraph(text(block))]);
  expect(parseMarkdown("a <b>c</b>")).toEqual([paragraph(text("a "), text("<b>"), text("c"), text("</b>"))]);
});

test("an image is its words and address", () => {
  expect(parseMarkdown("![x](https://evil.example/x.png?data)")).toEqual([
    paragraph(text("[image: x → https://evil.example/x.png?data]")),
  ]);
  expect(parseMarkdown("![x][1]\n\n[1]: https://evil.example/")).toEqual([
    paragraph(text("[image: x → https://evil.example/]")),
    paragraph(text("[1]: https://evil.example/")),
  ]);
});

test("a link has its address, wherever that is written", () => {
  const link = (address: string) => ({ kind: "link", address, children: [text("a")] });
  expect(parseMarkdown("[a](javascript:alert(1))")).toEqual([
    { kind: "paragraph", children: [link("javascript:alert(1)")] },
  ]);
  expect(parseMarkdown("[a][1]\n\n[1]: data:x")[0]).toEqual({
    kind: "paragraph",
    children: [link("data:x")],
  });
  expect(parseMarkdown("[a][none]")).toEqual([paragraph(text("[a][none]"))]);
});

test("character references are what they stand for", () => {
  expect(parseMarkdown("&lt;script&gt; &amp; &eacute;")).toEqual([paragraph(text("<script> & é"))]);
});

test("text that is too long or nested too deep is left as it is", () => {
  for (const each of ["a".repeat(MAX_MARKDOWN + 1), `${">".repeat(5_000)} a`, `${"- ".repeat(5_000)}a`])
    expect(parseMarkdown(each)).toEqual([paragraph(text(each))]);
});

test("any text has a tree of bounded depth", () => {
  const marks = fc.array(
    fc.constantFrom(
      "*",
      "_",
      "`",
      "[",
      "](",
      ")",
      "<",
      ">",
      "|",
      "\n",
      "- ",
      "1. ",
      "a",
      "  ",
      "![",
      "~~",
      "#",
      "&lt;",
    ),
    { maxLength: 60 },
  );
  fc.assert(fc.property(marks, (parts) => Array.isArray(parseMarkdown(parts.join("")))));
});
