import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useRef } from "react";
import { type Transcript, transcriptsQuery } from "../api/queries";
import { columnName } from "../lib/estimates";
import { counted, formatMs, visible } from "../lib/format";
import { neighbor } from "../lib/neighbors";
import { RESULTS, type ResultFilter } from "../lib/search";
import { useKeys } from "../ui/keys";
import { LoadMore } from "../ui/more";
import { Empty, Failure, Loading } from "../ui/states";
import { Result } from "../ui/status";
import { TranscriptView } from "./transcript";
import styles from "./transcripts.module.css";

const route = getRouteApi("/runs/$id/transcripts");
const ROW_PX = 56;

export function Transcripts() {
  const { id } = route.useParams();
  const { t: opened, ...filters } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(transcriptsQuery(id, filters));
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const list = useRef<HTMLDivElement>(null);
  const open = useCallback(
    (index: number | undefined) => {
      void navigate({ search: (old) => ({ ...old, t: index }), replace: opened !== undefined });
    },
    [navigate, opened],
  );
  const close = () => {
    open(undefined);
    list.current?.querySelector<HTMLElement>(`[data-index="${opened}"]`)?.focus();
  };
  const step = (direction: 1 | -1, onlyFailures: boolean) => {
    const next = neighbor(items, opened, direction, onlyFailures);
    if (next !== undefined) open(next);
    else if (direction === 1 && query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
  };
  useKeys({
    n: () => step(1, true),
    p: () => step(-1, true),
    j: () => step(1, false),
    k: () => step(-1, false),
    Escape: close,
  });
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
      {items.length > 0 && (
        <div className={styles.columns} data-open={opened !== undefined}>
          <div className={styles.side}>
            <List items={items} opened={opened} open={open} scroll={list} />
            <p className={styles.more}>
              {counted(items.length, "transcript")} shown
              <LoadMore query={query} />
            </p>
          </div>
          <section className={styles.panel} aria-label="Transcript">
            {opened === undefined ? (
              <p className={styles.hint}>
                Choose a conversation, or press <kbd>n</kbd> for the first failure. <kbd>n</kbd> and{" "}
                <kbd>p</kbd> go to the next and previous failure, <kbd>j</kbd> and <kbd>k</kbd> to the next
                and previous conversation, <kbd>Esc</kbd> closes.
              </p>
            ) : transcript ? (
              <>
                <p className={styles.bar}>
                  <button type="button" onClick={() => step(-1, true)}>
                    Previous failure
                  </button>
                  <button type="button" onClick={() => step(1, true)}>
                    Next failure
                  </button>
                  <button type="button" onClick={close}>
                    Close
                  </button>
                </p>
                <TranscriptView key={transcript.id} transcript={transcript} />
              </>
            ) : (
              <Sought index={opened} query={query} close={close} />
            )}
          </section>
        </div>
      )}
    </>
  );
}

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** A transcript that the address names and the loaded pages do not have: the list is read on until it comes. */
function Sought({ index, query, close }: { index: number; query: Pages; close: () => void }) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  if (hasNextPage) return <Loading what={`conversation ${index}`} />;
  return (
    <Empty title={`Conversation ${index} is not in this list`}>
      <p>It has no transcript, its content was deleted or has expired, or the filters leave it out.</p>
      <button type="button" onClick={close}>
        Close
      </button>
    </Empty>
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

/** Through the CSSOM: the content security policy refuses style attributes in markup. */
function place(element: HTMLElement | null, start: number): void {
  if (element) element.style.transform = `translateY(${start}px)`;
}

const WORDS: Record<ResultFilter, string> = { passed: "passed", failed: "failed" };

function Filters() {
  const { t: _, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <search className={styles.filters}>
      <label>
        Result
        <select
          value={search.result ?? ""}
          onChange={(event) => {
            const result = (event.target.value || undefined) as ResultFilter | undefined;
            void navigate({ search: (old) => ({ ...old, result, t: undefined }) });
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
                void navigate({ search: (old) => ({ ...old, [name]: undefined, t: undefined }) })
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
