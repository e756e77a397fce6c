import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { hostOf } from "../../lib/addresses";
import { visible } from "../../lib/format";
import { type Block, type Inline, type Item, parseMarkdown } from "../../lib/markdown";
import styles from "./markdown.module.css";

/** It is true where nothing may take the focus, such as in the cells of a table. */
const Inert = createContext(false);

interface MarkdownProps {
  text: string;
  isInert?: boolean;
}

/** Shows Markdown as elements: nothing in it is loaded, and a link is opened only after its host was shown. */
export default function Markdown({ text, isInert = false }: MarkdownProps) {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return (
    <Inert value={isInert}>
      <div className={styles.markdown}>{blocks.map(drawBlock)}</div>
    </Inert>
  );
}

function drawBlock(block: Block, key: number): ReactNode {
  switch (block.kind) {
    case "paragraph":
      return <p key={key}>{block.children.map(drawInline)}</p>;
    case "heading":
      // It is not a heading of the page, which has its own outline.
      return (
        <p key={key} className={styles.heading} data-depth={block.depth}>
          {block.children.map(drawInline)}
        </p>
      );
    case "code":
      return <Code key={key} text={block.text} />;
    case "quote":
      return <blockquote key={key}>{block.children.map(drawBlock)}</blockquote>;
    case "list":
      return block.isOrdered ? (
        <ol key={key} start={block.start}>
          {block.items.map(drawItem)}
        </ol>
      ) : (
        <ul key={key}>{block.items.map(drawItem)}</ul>
      );
    case "table":
      return <Table key={key} block={block} />;
    case "rule":
      return <hr key={key} />;
  }
}

function drawItem(item: Item, key: number): ReactNode {
  return (
    <li key={key} data-task={item.checked !== null}>
      {item.checked !== null && (
        <span className={styles.task}>
          <span aria-hidden="true">{item.checked ? "[x]" : "[ ]"}</span>
          <span className="hidden-text">{item.checked ? "done" : "to do"}</span>
        </span>
      )}
      <div>{item.children.map(drawBlock)}</div>
    </li>
  );
}

function Code({ text }: { text: string }) {
  const isInert = useContext(Inert);
  return (
    <pre tabIndex={isInert ? undefined : 0}>
      <code>{visible(text)}</code>
    </pre>
  );
}

function Table({ block }: { block: Extract<Block, { kind: "table" }> }) {
  const [head = [], ...rows] = block.rows;
  const isInert = useContext(Inert);
  const draw = (cells: readonly (readonly Inline[])[], isHead: boolean) =>
    cells.map((cell, column) => {
      const props = { key: column, "data-align": block.align[column] ?? undefined };
      const { key, ...rest } = props;
      return isHead && cell.length > 0 ? (
        <th key={key} scope="col" {...rest}>
          {cell.map(drawInline)}
        </th>
      ) : (
        <td key={key} {...rest}>
          {cell.map(drawInline)}
        </td>
      );
    });
  return (
    <div className={styles.table} tabIndex={isInert ? undefined : 0}>
      <table>
        <thead>
          <tr>{draw(head, true)}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a text never move
            <tr key={index}>{draw(row, false)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function drawInline(inline: Inline, key: number): ReactNode {
  switch (inline.kind) {
    case "text":
      return visible(inline.text);
    case "code":
      return <code key={key}>{visible(inline.text)}</code>;
    case "break":
      return <br key={key} />;
    case "strong":
      return <strong key={key}>{inline.children.map(drawInline)}</strong>;
    case "emphasis":
      return <em key={key}>{inline.children.map(drawInline)}</em>;
    case "delete":
      return <s key={key}>{inline.children.map(drawInline)}</s>;
    case "link":
      return <InertLink key={key} address={inline.address} words={inline.children} />;
  }
}

/** Shows the words and the address of a link; one to the web is a button that first says where it leads. */
function InertLink({ address, words }: { address: string; words: readonly Inline[] }) {
  const [isOpen, open] = useState(false);
  const host = hostOf(address);
  const isInert = useContext(Inert);
  const text = words.map(drawInline);
  if (isInert) return text;
  if (host === null)
    return (
      <span>
        {text} <span className={styles.address}>({visible(address)})</span>
      </span>
    );
  return (
    <span>
      <button type="button" className={styles.link} aria-expanded={isOpen} onClick={() => open(!isOpen)}>
        {text}
      </button>
      {isOpen && (
        <span className={styles.address}>
          {" "}
          <a href={address} target="_blank" rel="noopener noreferrer">
            Open {visible(host)}
          </a>{" "}
          ({visible(address)})
        </span>
      )}
    </span>
  );
}
