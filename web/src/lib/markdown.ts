/**
 * Parses Markdown of models and users to a tree of blocks, in which nothing is markup: HTML is text, images are their
 * words and addresses, and links do nothing by themselves.
 */
import type { AlignType, Definition, Nodes, Parents } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

export type Inline =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "break" }
  | { readonly kind: "strong" | "emphasis" | "delete"; readonly children: readonly Inline[] }
  | { readonly kind: "link"; readonly address: string; readonly children: readonly Inline[] };

export interface Item {
  /** It is for a list of tasks, and null in other lists. */
  readonly checked: boolean | null;
  readonly children: readonly Block[];
}

export type Block =
  | { readonly kind: "paragraph"; readonly children: readonly Inline[] }
  | { readonly kind: "heading"; readonly depth: number; readonly children: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string | null; readonly text: string }
  | { readonly kind: "quote"; readonly children: readonly Block[] }
  | {
      readonly kind: "list";
      readonly isOrdered: boolean;
      readonly start: number;
      readonly items: readonly Item[];
    }
  | {
      readonly kind: "table";
      readonly align: readonly AlignType[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: "rule" };

/** Longer texts, and deeper nesting, are shown as they are: nobody writes them to be read. */
export const MAX_MARKDOWN = 100_000;
const MAX_DEPTH = 20;
const MAX_QUOTES = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){20}/m;

type Definitions = ReadonlyMap<string, Definition>;

export function parseMarkdown(text: string): Block[] {
  if (text.length > MAX_MARKDOWN || MAX_QUOTES.test(text)) return [textBlock(text)];
  const root = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const definitions = new Map<string, Definition>();
  for (const node of root.children) {
    if (node.type === "definition" && !definitions.has(node.identifier))
      definitions.set(node.identifier, node);
  }
  return blocksOf(root, definitions, 0);
}

function textBlock(text: string): Block {
  return { kind: "paragraph", children: [{ kind: "text", text }] };
}

function blocksOf(parent: Parents, definitions: Definitions, depth: number): Block[] {
  return parent.children.flatMap((child) => blockOf(child, definitions, depth));
}

function blockOf(node: Nodes, definitions: Definitions, depth: number): Block[] {
  switch (node.type) {
    case "paragraph":
      return [{ kind: "paragraph", children: inlinesOf(node, definitions, 0) }];
    case "heading":
      return [{ kind: "heading", depth: node.depth, children: inlinesOf(node, definitions, 0) }];
    case "code":
      return [{ kind: "code", language: node.lang ?? null, text: node.value }];
    case "html":
      return [textBlock(node.value)];
    case "thematicBreak":
      return [{ kind: "rule" }];
    case "definition":
      return [textBlock(`[${node.label ?? node.identifier}]: ${node.url}`)];
    case "table":
      return [
        {
          kind: "table",
          align: node.align ?? [],
          rows: node.children.map((row) => row.children.map((cell) => inlinesOf(cell, definitions, 0))),
        },
      ];
    case "blockquote":
      return depth >= MAX_DEPTH
        ? [textBlock(plainText(node))]
        : [{ kind: "quote", children: blocksOf(node, definitions, depth + 1) }];
    case "list":
      if (depth >= MAX_DEPTH) return [textBlock(plainText(node))];
      return [
        {
          kind: "list",
          isOrdered: node.ordered === true,
          start: node.start ?? 1,
          items: node.children.map((item) => ({
            checked: item.checked ?? null,
            children: blocksOf(item, definitions, depth + 1),
          })),
        },
      ];
    case "footnoteDefinition":
      return [textBlock(`[^${node.label ?? node.identifier}]:`), ...blocksOf(node, definitions, depth + 1)];
    default:
      return [textBlock(plainText(node))];
  }
}

function inlinesOf(parent: Parents, definitions: Definitions, depth: number): Inline[] {
  return parent.children.flatMap((child) => inlineOf(child, definitions, depth));
}

function inlineOf(node: Nodes, definitions: Definitions, depth: number): Inline[] {
  if (depth >= MAX_DEPTH) return [{ kind: "text", text: plainText(node) }];
  switch (node.type) {
    case "text":
    case "html":
      return [{ kind: "text", text: node.value }];
    case "inlineCode":
      return [{ kind: "code", text: node.value }];
    case "break":
      return [{ kind: "break" }];
    case "strong":
    case "emphasis":
    case "delete":
      return [{ kind: node.type, children: inlinesOf(node, definitions, depth + 1) }];
    case "link":
      return [linkOf(node.url, inlinesOf(node, definitions, depth + 1))];
    case "linkReference": {
      const children = inlinesOf(node, definitions, depth + 1);
      const target = definitions.get(node.identifier);
      return target ? [linkOf(target.url, children)] : children;
    }
    case "image":
      return [imageOf(node.alt, node.url)];
    case "imageReference":
      return [imageOf(node.alt, definitions.get(node.identifier)?.url ?? node.identifier)];
    case "footnoteReference":
      return [{ kind: "text", text: `[^${node.label ?? node.identifier}]` }];
    default:
      return [{ kind: "text", text: plainText(node) }];
  }
}

function linkOf(address: string, children: readonly Inline[]): Inline {
  return { kind: "link", address, children };
}

function imageOf(alt: string | null | undefined, address: string): Inline {
  return { kind: "text", text: `[image: ${alt || "without words"} → ${address}]` };
}

function plainText(node: Nodes): string {
  const texts: string[] = [];
  const rest: Nodes[] = [node];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if ("value" in next) texts.push(next.value);
    else if ("children" in next) rest.push(...next.children.toReversed());
  }
  return texts.join(" ");
}
