import { type InfiniteData, type UseInfiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Page } from "../api/lists";
import { More } from "./more";
import page from "./page.module.css";
import { ScrollRegion } from "./scroll";
import { Failure, Loading } from "./states";

export interface Column<T> {
  readonly name: string;
  readonly isFigure?: boolean;
  readonly cell: (item: T) => ReactNode;
}

interface Props<T> {
  noun: string;
  query: UseInfiniteQueryOptions<Page<T>, Error, InfiniteData<Page<T>>, readonly unknown[], string>;
  /** The first column names the item. */
  columns: readonly Column<T>[];
  empty: ReactNode;
}

/** Lists the items of a workspace of one kind, newest first. */
export function ListScreen<T extends { id: string }>({ noun, query: options, columns, empty }: Props<T>) {
  const query = useInfiniteQuery(options);
  const items = query.data?.pages.flatMap((each) => each.items) ?? [];
  if (query.isPending) return <Loading what={`${noun}s`} />;
  return (
    <>
      {query.isError && (
        <Failure error={query.error} what={`The ${noun}s`} retry={() => void query.refetch()} />
      )}
      {query.isSuccess && items.length === 0 && empty}
      {items.length > 0 && (
        <>
          <ScrollRegion label={`${noun}s`}>
            <table>
              <thead>
                <tr>
                  {columns.map((column) => (
                    <th key={column.name} scope="col" className={column.isFigure ? "figure" : ""}>
                      {column.name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {items.map((item) => (
                  <tr key={item.id}>
                    {columns.map((column, index) =>
                      index === 0 ? (
                        <th key={column.name} scope="row" className={page.name}>
                          {column.cell(item)}
                        </th>
                      ) : (
                        <td key={column.name} className={column.isFigure ? "figure" : page.cell}>
                          {column.cell(item)}
                        </td>
                      ),
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollRegion>
          <More query={query} shown={items.length} noun={noun} />
        </>
      )}
    </>
  );
}
