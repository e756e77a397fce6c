import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useRef, useState } from "react";
import { runQuery, transcriptsQuery } from "../api/queries";
import type { Transcript } from "../api/types";
import { columnName } from "../lib/estimates";
import { counted, formatMs, visible } from "../lib/format";
import { neighbor, sibling } from "../lib/neighbors";
import { RESULTS, type ResultFilter } from "../lib/search";
import { useAreKeysOn, useKeys } from "../ui/keys";
import { LoadMore } from "../ui/more";
import { Empty, Failure, Loading } from "../ui/states";
import { Result } from "../ui/status";
import { Held } from "./conversation";
import { TranscriptView } from "./transcript/transcript";
import styles from "./transcripts.module.css";

const route = getRouteApi("/runs/$id/transcripts");
const ROW_PX = 56;
/** At most so many pages of the list are read for one key. */
const MAX_PAGES = 20;

export function Transcripts() {
  const { id } = route.useParams();
  const { t: opened, find, ...filters } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(transcriptsQuery(id, filters));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const list = useRef<HTMLDivElement>(null);
  const [note, setNote] = useState("");
  const open = useCallback(
    (index: number | undefined) => {
      setNote("");
      void navigate({
        search: (old) => ({ ...old, t: index, find: undefined }),
        replace: opened !== undefined,
      });
    },
    [navigate, opened],
  );
  const close = () => {
    open(undefined);
    list.current?.querySelector<HTMLElement>(`[data-index="${opened}"]`)?.focus();
  };
  /** Reads further pages of the list while it has no such conversation. */
  const step = async (direction: 1 | -1, onlyFailures: boolean) => {
    let known: readonly Transcript[] = items;
    let hasMore = query.hasNextPage;
    for (let page = 0; ; page++) {
      const next = neighbor(known, opened, direction, onlyFailures);
      if (next !== undefined) return open(next);
      if (direction === -1 || !hasMore || query.isFetchingNextPage) break;
      if (page === MAX_PAGES) return setNote(`None among ${counted(known.length, "transcript")} so far.`);
      const read = await query.fetchNextPage();
      if (read.isError) return;
      known = read.data?.pages.flatMap((each) => each.items) ?? [];
      hasMore = read.hasNextPage;
    }
    const word = onlyFailures ? "failure" : "conversation";
    setNote(direction === 1 ? `No further ${word} in this list.` : `No earlier ${word} in this list.`);
  };
  const across = (direction: 1 | -1) => {
    const next = sibling(items, opened, direction);
    if (next !== undefined) open(next);
  };
  const isOpened = () => opened !== undefined;
  useKeys("Conversations", {
    n: { does: "open the next failure", act: () => void step(1, true) },
    p: { does: "open the previous failure", act: () => void step(-1, true) },
    j: { does: "open the next conversation", act: () => void step(1, false) },
    k: { does: "open the previous conversation", act: () => void step(-1, false) },
    "]": { does: "open the same scenario with the next target", act: () => across(1), isUsable: isOpened },
    "[": {
      does: "open the same scenario with the previous target",
      act: () => across(-1),
      isUsable: isOpened,
    },
    Escape: { does: "close the conversation", act: close, isUsable: isOpened },
  });
  const areKeysOn = useAreKeysOn();
  const transcript = items.find((each) => each.probeIndex === opened);
  return (
    <>
      <Filters />
      {query.isPending && <Loading what="transcripts" />}
      {query.isError && <Failure error={query.error} what="Transcripts" retry={() => void query.refetch()} />}
      {query.isSuccess && items.length === 0 && (
        <Empty title={Object.keys(filters).length > 0 ? "No transcript matches" : "No transcripts yet"}>
          <p>A conversation has its transcript as soon as it is completed.</p>
          <LoadMore query={query}>Search further</LoadMore>
        </Empty>
      )}
      {(items.length > 0 || (query.isSuccess && opened !== undefined)) && (
        <div className={styles.columns} data-open={opened !== undefined}>
          <div className={styles.side}>
            <List items={items} opened={opened} open={open} scroll={list} />
            <p className={styles.more}>
              {counted(items.length, "transcript")} shown
              <LoadMore query={query} />
              <Further id={id} query={query} />
            </p>
          </div>
          <section className={styles.panel} aria-label="Transcript">
            {opened === undefined ? (
              <p className={styles.hint}>
                {areKeysOn ? (
                  <>
                    Choose a conversation, or press <kbd>n</kbd> for the first failure. <kbd>n</kbd> and{" "}
                    <kbd>p</kbd> go to the next and previous failure, <kbd>j</kbd> and <kbd>k</kbd> to the
                    next and previous conversation, <kbd>Esc</kbd> closes, <kbd>?</kbd> lists all keys.
                  </>
                ) : (
                  "Choose a conversation."
                )}
              </p>
            ) : (
              <>
                <p className={styles.bar} data-actions>
                  <button type="button" onClick={() => void step(-1, true)}>
                    Previous failure
                  </button>
                  <button type="button" onClick={() => void step(1, true)}>
                    Next failure
                  </button>
                  <button type="button" onClick={close}>
                    Close
                  </button>
                  <span role="status" className={styles.note}>
                    {note}
                  </span>
                </p>
                {transcript ? (
                  <TranscriptView key={transcript.id} transcript={transcript} find={find} />
                ) : (
                  <Held key={opened} runId={id} index={opened} find={find} />
                )}
              </>
            )}
          </section>
        </div>
      )}
    </>
  );
}

interface Shown {
  dataUpdatedAt: number;
  isFetching: boolean;
  refetch: () => unknown;
}

/** Offers conversations that have ended since the list was read. */
function Further({ id, query }: { id: string; query: Shown }) {
  const completed = useQuery(runQuery(id)).data?.progress.completed ?? 0;
  const [known, setKnown] = useState(completed);
  const { dataUpdatedAt } = query;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is known is that of the time of reading
  useEffect(() => setKnown(completed), [dataUpdatedAt]);
  if (completed <= known) return null;
  return (
    <button type="button" disabled={query.isFetching} onClick={() => void query.refetch()}>
      {counted(completed - known, "new conversation")}: read again
    </button>
  );
}

interface ListProps {
  items: readonly Transcript[];
  opened: number | undefined;
  open: (index: number) => void;
  scroll: React.RefObject<HTMLDivElement | null>;
}

function List({ items, opened, open, scroll }: ListProps) {
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  const position = items.findIndex((each) => each.probeIndex === opened);
  useEffect(() => {
    if (position >= 0) rows.scrollToIndex(position, { align: "auto" });
  }, [position, rows]);
  return (
    <div className={styles.list} ref={scroll}>
      <svg className={styles.sizer} height={rows.getTotalSize()} width="1" aria-hidden="true" />
      <ul aria-label="Conversations">
        {rows.getVirtualItems().map((row) => {
          const item = items[row.index];
          if (item === undefined) return null;
          return (
            <li
              key={item.id}
              ref={(element) => place(element, row.start)}
              aria-setsize={items.length}
              aria-posinset={row.index + 1}
            >
              <button
                type="button"
                data-index={item.probeIndex}
                aria-current={item.probeIndex === opened}
                onClick={() => open(item.probeIndex)}
              >
                <span className={styles.title}>{visible(item.scenarioName ?? item.scenarioId)}</span>
                {item.result || item.decisionCode === null ? (
                  <Result success={item.result?.success} />
                ) : (
                  <span>decision {visible(item.decisionCode)}</span>
                )}
                <span className={styles.sub}>
                  {visible(columnName(item))}
                  {item.result && item.decisionCode !== null && `, decision ${visible(item.decisionCode)}`},{" "}
                  {formatMs(item.durationMs)}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The CSSOM is used because the content security policy refuses style attributes in markup. */
function place(element: HTMLElement | null, start: number): void {
  if (element) element.style.transform = `translateY(${start}px)`;
}

const WORDS: Record<ResultFilter, string> = { passed: "passed", failed: "failed" };

function Filters() {
  const { t: _, find: __, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <search className={styles.filters}>
      <label>
        Result
        <select
          value={search.result ?? ""}
          onChange={(event) => {
            const result = (event.target.value || undefined) as ResultFilter | undefined;
            void navigate({ search: (old) => ({ ...old, result, t: undefined, find: undefined }) });
          }}
        >
          <option value="">all</option>
          {RESULTS.map((each) => (
            <option key={each} value={each}>
              {WORDS[each]}
            </option>
          ))}
        </select>
      </label>
      {(["model", "decision", "tag"] as const).map(
        (name) =>
          search[name] !== undefined && (
            <button
              key={name}
              type="button"
              onClick={() =>
                void navigate({
                  search: (old) => ({ ...old, [name]: undefined, t: undefined, find: undefined }),
                })
              }
            >
              {name === "model" ? "target" : name} {visible(search[name])} <span aria-hidden="true">✕</span>
              <span className="hidden-text">, remove this filter</span>
            </button>
          ),
      )}
    </search>
  );
}
