import type { ReactNode } from "react";
import { counted, formatCount } from "../lib/format";
import styles from "./more.module.css";

interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

interface Props {
  query: Pages;
  shown: number;
  total?: number | undefined;
  noun: string;
}

/** Shows how many items of a list are shown, and loads further ones. */
export function More({ query, shown, total, noun }: Props) {
  return (
    <p className={styles.more}>
      {query.hasNextPage && total !== undefined && `${formatCount(shown)} of `}
      {counted(query.hasNextPage ? (total ?? shown) : shown, noun)}
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
