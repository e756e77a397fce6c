// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import Markdown from "./markdown";

afterEach(cleanup);

test("a link of the web is opened only after its host was shown", () => {
  render(<Markdown text="See [the terms](https://shop.example/a?b=1)." />);
  expect(screen.queryByRole("link")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "the terms" }));
  const link = screen.getByRole("link", { name: "Open shop.example" });
  expect(link.getAttribute("href")).toBe("https://shop.example/a?b=1");
  expect(link.getAttribute("rel")).toBe("noopener noreferrer");
});

test("other links have their address as text, and cannot be opened", () => {
  const { container } = render(
    <Markdown text={"[a](javascript:alert(1)) [b](data:text/html,x) [c](/runs) <javascript:alert(1)>"} />,
  );
  expect(container.querySelectorAll("a, button")).toHaveLength(0);
  expect(container.textContent).toContain("a (javascript:alert(1)) b (data:text/html,x) c (/runs)");
});

test("HTML and images are words", () => {
  const { container } = render(
    <Markdown text={"<img src=x onerror=alert(1)>\n\ntext <b>bold</b> ![x](https://evil.example/x.png)"} />,
  );
  expect(container.querySelectorAll("img, b, script")).toHaveLength(0);
  expect(container.textContent).toContain("<img src=x onerror=alert(1)>");
  expect(container.textContent).toContain("[image: x → https://evil.example/x.png]");
});

test("blocks are elements, and characters that no one sees are codes", () => {
  const { container } = render(
    <Markdown text={"# T\u202e\n\n3. a\n4. b\n\n- [x] done\n\n| h |\n|--:|\n| 1 |\n\n> q\n\n`c`\n\n---"} />,
  );
  expect(container.textContent).toContain("T[U+202E]");
  expect(container.querySelector("ol")?.getAttribute("start")).toBe("3");
  expect(container.querySelector("th")?.textContent).toBe("h");
  expect(container.querySelector("td")?.dataset["align"]).toBe("right");
  for (const each of ["ul", "blockquote", "code", "hr"]) expect(container.querySelector(each)).not.toBeNull();
});
