import { infiniteQueryOptions } from "@tanstack/react-query";

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}
export interface PageQuery {
  limit: number;
  cursor?: string;
}

const PAGE = 50;
const MAX_PAGE = 100;

/** Reads a list page by page. */
export function listQuery<T>(
  key: readonly unknown[],
  readPage: (query: PageQuery, signal: AbortSignal) => Promise<Page<T>>,
) {
  return infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: string }) =>
      readPage(pageParam ? { limit: PAGE, cursor: pageParam } : { limit: PAGE }, signal),
    initialPageParam: "",
    getNextPageParam: (page: Page<T>) => page.nextCursor ?? undefined,
  });
}

export async function readAll<T>(readPage: (query: PageQuery) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Page<T> = await readPage(cursor ? { limit: MAX_PAGE, cursor } : { limit: MAX_PAGE });
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
}
