import { queryOptions } from "@tanstack/react-query";
import { BLOCK } from "../lib/probe_table";
import { countTags } from "../lib/tags";
import { api, read } from "./client";

const AT_A_TIME = 3;
/** The tags of a larger run are in its report. */
export const MAX_COUNTED = 10_000;

/** Counts the conversations with each failure tag of a run that is over. */
export const tagsQuery = (id: string, total: number) =>
  queryOptions({
    queryKey: ["run", id, "tags", total],
    queryFn: async ({ signal }) => {
      const numbers = Array.from({ length: Math.ceil(total / BLOCK) }, (_, block) => block);
      const blocks = [];
      for (let first = 0; first < numbers.length; first += AT_A_TIME) {
        const group = numbers.slice(first, first + AT_A_TIME).map((block) =>
          read(
            api.GET("/v1/runs/{run_id}/probe-columns", {
              signal,
              params: { path: { run_id: id }, query: { block } },
            }),
          ),
        );
        blocks.push(...(await Promise.all(group)));
      }
      return countTags(blocks);
    },
    staleTime: 60_000,
  });
