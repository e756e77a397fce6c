import { Link, type LinkProps } from "@tanstack/react-router";
import { type FocusEvent, type KeyboardEvent, memo, type ReactNode } from "react";
import { markAfter, type Place } from "../lib/marks";
import { useKeys } from "../ui/keys";
import styles from "./marks.module.css";

/** Represents a mark of a drawing that can be reached and, if it leads somewhere, opened. */
export interface Mark {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly text: string;
  readonly shape: ReactNode;
  readonly link?: LinkProps | undefined;
  /** It is called for a mark that is no link. */
  readonly choose?: (() => void) | undefined;
  /** It is the place for the arrow keys, if that is not where the mark is drawn. */
  readonly cell?: Place;
}

interface Props {
  title: string;
  marks: readonly Mark[];
  current: number;
  hasFocus: boolean;
  /** It is called with null when the focus leaves them. */
  focus: (mark: number | null) => void;
}

/** Makes all marks one stop of the Tab key; from there, keys lead from mark to mark. */
export function Marks({ title, marks, current, hasFocus, focus }: Props) {
  const leads = marks.some((each) => each.link || each.choose);
  useKeys(`Marks of “${title}”, while they have the focus`, {
    "an arrow key": { does: "go to the nearest mark in that direction" },
    "PageDown or PageUp": { does: "go to the next or previous mark from left to right" },
    "Home or End": { does: "go to the first or last mark from left to right" },
    Enter: { does: "open what the mark leads to", isUsable: () => leads },
  });
  const places = marks.map((each) => each.cell ?? each);
  const go = (event: KeyboardEvent<SVGGElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const next = markAfter(places, current, event.key);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    (event.currentTarget.children[next] as SVGElement | undefined)?.focus();
  };
  const note = (event: FocusEvent<SVGGElement>) =>
    focus([...event.currentTarget.children].findIndex((each) => each.contains(event.target)));
  const shown = hasFocus ? marks[current] : undefined;
  return (
    <>
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a group of SVG is no control */}
      <g
        role="application"
        aria-label={`Marks of “${title}”: arrow keys lead to others`}
        onKeyDown={go}
        onFocus={note}
        onBlur={() => focus(null)}
      >
        {marks.map((mark, index) => (
          <One key={mark.key} mark={mark} isCurrent={index === current} />
        ))}
      </g>
      {shown && (
        <>
          <circle className={styles.halo} cx={shown.x} cy={shown.y} r={shown.radius + 4} />
          <circle className={styles.ring} cx={shown.x} cy={shown.y} r={shown.radius + 4} />
        </>
      )}
    </>
  );
}

const One = memo(function One({ mark, isCurrent }: { mark: Mark; isCurrent: boolean }) {
  const { text, shape, link, choose } = mark;
  const shared = {
    className: styles.mark,
    tabIndex: isCurrent ? 0 : -1,
    "aria-label": text,
    "data-leads": link !== undefined || choose !== undefined,
  };
  const content = (
    <>
      <title>{text}</title>
      {shape}
    </>
  );
  if (link)
    return (
      <Link {...link} {...shared}>
        {content}
      </Link>
    );
  const press = (event: KeyboardEvent) => {
    if (choose === undefined || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    choose();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it is a button if it does something
    <g role={choose ? "button" : "img"} {...shared} onClick={choose} onKeyDown={press}>
      {content}
    </g>
  );
});
