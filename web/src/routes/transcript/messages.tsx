import { useVirtualizer, useWindowVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Message } from "../../api/types";

import { callNames, conversationText, saidText, wholeText } from "../../lib/conversation_text";
import { findMatches } from "../../lib/find";
import { CopyButton } from "../../ui/copy";
import { useKeys } from "../../ui/keys";
import { FindField } from "./find_field";
import { useFormat } from "./format";
import { FormatChoice } from "./format_choice";
import { MessageBody } from "./message";
import { ScrollElement } from "./scroll_element";
import styles from "./transcript.module.css";

/** A longer list is drawn only where it is seen, and is searched by the page: the browser would miss the rest. */
export const MAX_DRAWN = 200;
const ESTIMATED_PX = 96;
const MAX_FRAMES = 30;

interface MessagesProps {
  messages: readonly Message[];
  /** See `TranscriptView`. */
  against: string | undefined;
  isAlone: boolean;
  /** These words are searched for at first. */
  find: string | undefined;
}

type GoTo = (index: number, isToFocus: boolean) => void;

export function Messages({ messages, against, isAlone, find }: MessagesProps) {
  const format = useFormat();
  const list = useRef<HTMLOListElement>(null);
  const scrollTo = useRef<(index: number) => void>(null);
  const [words, setWords] = useState(find ?? "");
  const [found, setFound] = useState(0);
  const isLong = isAlone && messages.length > MAX_DRAWN;
  const texts = useMemo(() => messages.map(wholeText), [messages]);
  const matches = useMemo(() => findMatches(texts, words), [texts, words]);
  const names = useMemo(() => callNames(messages), [messages]);
  const hasFigures = messages.filter((message) => message.reply).length > 1;
  const lastAnswer = messages.findLastIndex((message) => message.role === "assistant");
  const goTo: GoTo = (index, isToFocus) => {
    scrollTo.current?.(index);
    whenDrawn(list, index, (element) => {
      if (isToFocus) element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "nearest" });
    });
  };
  const step = (direction: 1 | -1) => {
    const at = Number(document.activeElement?.closest<HTMLElement>("[data-index]")?.dataset["index"] ?? -1);
    const to = at >= 0 ? at + direction : direction === 1 ? 0 : messages.length - 1;
    if (to >= 0 && to < messages.length) goTo(to, true);
  };
  useKeys("Messages", {
    t: { does: "go to the next message", act: () => step(1), isUsable: () => isAlone },
    T: { does: "go to the previous message", act: () => step(-1), isUsable: () => isAlone },
  });
  const current = matches[found]?.index;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another place is gone to
  useEffect(() => {
    if (current !== undefined) goTo(current, false);
  }, [current, words]);
  const draw = (message: Message, index: number) => (
    <MessageBody
      message={message}
      number={index + 1}
      format={format}
      words={words}
      against={index === lastAnswer ? against : undefined}
      calledName={message.toolCallId ? names.get(message.toolCallId) : undefined}
      hasFigures={hasFigures}
      copied={isAlone ? saidText(message) || wholeText(message) : undefined}
    />
  );
  const shown = { messages, current, draw, list };
  return (
    <>
      {isAlone && (
        <div className={styles.tools} data-screen-only>
          <FormatChoice />
          <CopyButton label="Copy conversation" text={() => Promise.resolve(conversationText(messages))} />
          <CopyButton label="Copy link" text={() => Promise.resolve(location.href)} />
          {(isLong || find !== undefined) && (
            <FindField
              words={words}
              count={matches.length}
              found={found}
              isBrowsers={!isLong}
              seek={(next) => {
                setWords(next);
                setFound(0);
              }}
              go={setFound}
            />
          )}
        </div>
      )}
      {isLong ? <LongList {...shown} scrollTo={scrollTo} /> : <List {...shown} />}
    </>
  );
}

interface ListProps {
  messages: readonly Message[];
  current: number | undefined;
  draw: (message: Message, index: number) => React.ReactNode;
  list: RefObject<HTMLOListElement | null>;
}

function List({ messages, current, draw, list }: ListProps) {
  return (
    <ol className={styles.messages} aria-label="Messages" ref={list}>
      {messages.map((message, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: messages of a transcript never move
          key={index}
          className={styles.message}
          data-role={message.role}
          data-index={index}
          data-found={index === current}
          tabIndex={-1}
        >
          {draw(message, index)}
        </li>
      ))}
    </ol>
  );
}

interface LongListProps extends ListProps {
  scrollTo: RefObject<((index: number) => void) | null>;
}

/** Draws only the messages that are seen. */
function LongList(props: LongListProps) {
  const element = useContext(ScrollElement);
  return element ? <LongListInElement {...props} element={element} /> : <LongListInWindow {...props} />;
}

function LongListInWindow(props: LongListProps) {
  const [scrollMargin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const top = props.list.current?.getBoundingClientRect().top;
    if (top !== undefined) setMargin(Math.round(top + window.scrollY));
  });
  const rows = useWindowVirtualizer({ ...optionsOf(props), scrollMargin });
  return <Rows {...props} rows={rows} margin={scrollMargin} />;
}

function LongListInElement({
  element,
  ...props
}: LongListProps & { element: RefObject<HTMLElement | null> }) {
  const [scrollMargin, setMargin] = useState(0);
  useLayoutEffect(() => {
    const [list, frame] = [props.list.current, element.current];
    if (!list || !frame) return;
    const above = list.getBoundingClientRect().top - frame.getBoundingClientRect().top;
    setMargin(Math.round(above + frame.scrollTop));
  });
  const rows = useVirtualizer({
    ...optionsOf(props),
    scrollMargin,
    getScrollElement: () => element.current,
  });
  return <Rows {...props} rows={rows} margin={scrollMargin} />;
}

function optionsOf({ messages }: LongListProps) {
  return { count: messages.length, estimateSize: () => ESTIMATED_PX, overscan: 8 };
}

interface RowsProps extends LongListProps {
  rows: Virtualizer<Window, Element> | Virtualizer<HTMLElement, Element>;
  margin: number;
}

function Rows({ messages, current, draw, list, scrollTo, rows, margin }: RowsProps) {
  useEffect(() => {
    scrollTo.current = (index) => rows.scrollToIndex(index, { align: "center" });
    return () => {
      scrollTo.current = null;
    };
  }, [rows, scrollTo]);
  const height = rows.getTotalSize();
  useLayoutEffect(() => {
    if (list.current) list.current.style.height = `${height}px`;
  }, [height, list]);
  return (
    <ol className={styles.messages} data-long="true" aria-label="Messages" ref={list}>
      {rows.getVirtualItems().map((row) => {
        const message = messages[row.index];
        if (message === undefined) return null;
        return (
          <li
            key={row.index}
            ref={(element) => {
              rows.measureElement(element);
              // The CSSOM is used because the content security policy refuses style attributes in markup.
              if (element) element.style.transform = `translateY(${row.start - margin}px)`;
            }}
            className={styles.message}
            data-role={message.role}
            data-index={row.index}
            data-found={row.index === current}
            aria-setsize={messages.length}
            aria-posinset={row.index + 1}
            tabIndex={-1}
          >
            {draw(message, row.index)}
          </li>
        );
      })}
    </ol>
  );
}

/** Waits for a message that was scrolled to, which is drawn a few frames later. */
function whenDrawn(
  list: RefObject<HTMLOListElement | null>,
  index: number,
  act: (element: HTMLElement) => void,
  frames = MAX_FRAMES,
): void {
  const element = list.current?.querySelector<HTMLElement>(`:scope > [data-index="${index}"]`);
  if (element) act(element);
  else if (frames > 0) requestAnimationFrame(() => whenDrawn(list, index, act, frames - 1));
}
