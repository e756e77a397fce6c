import { infiniteQueryOptions, queryOptions, type UseQueryOptions } from "@tanstack/react-query";
import { startOf } from "../lib/days";
import { isTerminal } from "../lib/run_status";
import type { RunsSearch } from "../lib/search";
import { api, read, readTagged } from "./client";
import type { Estimate, Run, RunEvent, RunInput, Schemas } from "./types";

const COUNT_MS = 5_000;
const LIST_MS = 5_000;
/** A list is read again at most this often for runs whose outcomes are counted. */
const MAX_COUNTING = 10;

export { isTerminal };

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => read(api.GET("/v1/session", { signal })),
  staleTime: 60_000,
});

export const runsQuery = (search: RunsSearch) =>
  infiniteQueryOptions({
    queryKey: ["runs", requested(search)],
    queryFn: ({ signal, pageParam }) =>
      read(
        api.GET("/v1/runs", {
          signal,
          params: {
            query: {
              limit: 50,
              ...(search.status && { status: search.status }),
              ...(search.name && { name: search.name }),
              ...(search.definition && { definitionId: search.definition }),
              ...(search.experiment && { experimentId: search.experiment }),
              ...(search.eval && { evalId: search.eval }),
              ...(search.tag && { tag: search.tag }),
              ...(search.from && { createdAfter: startOf(search.from) }),
              ...(search.to && { createdBefore: startOf(search.to, 1) }),
              ...(search.sort === "createdAt" && { sort: search.sort }),
              ...(pageParam && { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    refetchInterval: ({ state: { data, dataUpdateCount } }) => {
      const runs = data?.pages.flatMap((page) => page.items) ?? [];
      if (runs.some((run) => !isTerminal(run.status))) return LIST_MS;
      return dataUpdateCount <= MAX_COUNTING && runs.some(isCounting) ? COUNT_MS : false;
    },
  });

/** Returns what the server filters and sorts by: other choices do not read the list again. */
function requested({ cols, sort, ...filters }: RunsSearch): RunsSearch {
  return sort === "createdAt" ? { ...filters, sort } : filters;
}

/** Tells whether the next request of a list counts the outcomes of a run, as after a correction of a large one. */
const isCounting = ({ status, rates, progress }: Run) =>
  isTerminal(status) && rates === null && progress.completed > 0;

/** While a run goes on, its queries are read again when its event stream says that they have changed: see live.ts. */
export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id],
    queryFn: ({ signal }) => read(api.GET("/v1/runs/{run_id}", { signal, params: { path: { run_id: id } } })),
  });

/** Reads a run with the ETag of its name, tags and metadata. Edited fields stay as they were when they were opened. */
export const runEditQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "edit"],
    queryFn: ({ signal }) =>
      readTagged(api.GET("/v1/runs/{run_id}", { signal, params: { path: { run_id: id } } })),
    staleTime: 0,
    gcTime: 0,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  });

export const progressQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "progress"],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/runs/{run_id}/progress", { signal, params: { path: { run_id: id } } })),
  });

export const resultsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "results"],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/runs/{run_id}/results", { signal, params: { path: { run_id: id } } })),
    // Each request counts further outcomes of a large run that is over.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && isTerminal(data.status) && !data.isComplete ? COUNT_MS : false,
  });

/** Reads all stored events of a run; later reads request only new ones. */
export const eventsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "events"],
    queryFn: async ({ signal, client }) => {
      const events = [...(client.getQueryData<RunEvent[]>(["run", id, "events"]) ?? [])];
      for (;;) {
        const after = events.at(-1)?.seq ?? 0;
        const path = { run_id: id };
        // This is not the stream, which is text.
        const page = (await read(
          api.GET("/v1/runs/{run_id}/events", { signal, params: { path, query: { after } } }),
        )) as Schemas["RunEventList"];
        const stored = page.items.filter((each) => each.seq !== null);
        if (stored.length === 0) return events;
        events.push(...stored);
      }
    },
  });

export const definitionsQuery = queryOptions({
  queryKey: ["definitions"],
  queryFn: ({ signal }) => read(api.GET("/v1/definitions", { signal, params: { query: { limit: 100 } } })),
});

export const definitionSearchQuery = (search: string) =>
  queryOptions({
    queryKey: ["definitions", "search", search],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/definitions", {
          signal,
          params: { query: { limit: 100, ...(search && { search }) } },
        }),
      ),
  });

export const chosenDefinitionQuery = (id: string) =>
  queryOptions({
    queryKey: ["definitions", "one", id],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/definitions/{definition_id}", { signal, params: { path: { definition_id: id } } })),
  });

/** Lists usable models: those of providers without a key are most of all, and are not read. */
export const modelsQuery = queryOptions({
  queryKey: ["models", "usable"],
  queryFn: async ({ signal }) => {
    const providers = await read(api.GET("/v1/providers", { signal, params: { query: { limit: 100 } } }));
    const usable = providers.items.filter((each) => each.usable);
    return (await Promise.all(usable.map((each) => modelsOf(each.name, signal)))).flat();
  },
  staleTime: 60_000,
});

/** Asks the servers of the workspace's own for their models, which takes up to some seconds. */
export const servedModelsQuery = queryOptions({
  queryKey: ["models", "served"],
  queryFn: async ({ signal }) => (await read(api.GET("/v1/served-models", { signal }))).items,
  staleTime: 60_000,
});

async function modelsOf(provider: string, signal: AbortSignal): Promise<Schemas["Model"][]> {
  const models: Schemas["Model"][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = { provider, limit: 100, ...(cursor && { cursor }) };
    const page: Schemas["ModelPage"] = await read(api.GET("/v1/models", { signal, params: { query } }));
    models.push(...page.items);
    cursor = page.nextCursor;
  }
  return models;
}

export type EstimateOptions = UseQueryOptions<Estimate>;

export const estimateQuery = (body: RunInput): EstimateOptions => ({
  queryKey: ["estimate", body],
  queryFn: ({ signal }) => read(api.POST("/v1/runs/estimate", { signal, body })),
  retry: false,
});

export const scaleRunEstimateQuery = (body: Schemas["CreateScaleRun"]): EstimateOptions => ({
  queryKey: ["estimate", "scale", body],
  queryFn: ({ signal }) => read(api.POST("/v1/scale-runs/estimate", { signal, body })),
  retry: false,
});
