import type { ReactNode } from "react";
import { counted } from "../lib/format";
import styles from "./more.module.css";

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** How many items of a list are shown, and the way to further ones. */
export function More({ query, shown, noun }: { query: Pages; shown: number; noun: string }) {
  return (
    <p className={styles.more}>
      {counted(shown, noun)}
      {query.hasNextPage && " shown"}
      <LoadMore query={query} />
    </p>
  );
}

/** Reads the next page of a list, as long as there is one. */
export function LoadMore({ query, children = "Load more" }: { query: Pages; children?: ReactNode }) {
  if (!query.hasNextPage) return null;
  return (
    <button type="button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {query.isFetchingNextPage ? "Loading…" : children}
    </button>
  );
}
