import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, ifMatch, read } from "./client";
import type { Schemas } from "./types";

/** Reads the newest runs whose name contains a text, to choose from. */
export const runChoicesQuery = (name: string | undefined) =>
  queryOptions({
    queryKey: ["runs", "to choose", name],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/runs", { signal, params: { query: { limit: 100, ...(name && { name }) } } })),
  });

/** Changes fields of an experiment unless somebody else has changed it since it was read. */
export function useExperimentUpdate(id: string, etag: string | null) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["UpdateExperiment"]) =>
      read(
        api.PATCH("/v1/experiments/{experiment_id}", {
          params: { path: { experiment_id: id }, header: ifMatch(etag) },
          body,
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["experiments"] }),
  });
}

/** Adds runs one after the other; those that were added stay so if one is refused. */
export function useAddRuns(id: string, onAdded: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (runs: readonly string[]) => {
      for (const run of runs) {
        const path = { experiment_id: id, run_id: run };
        await read(api.PUT("/v1/experiments/{experiment_id}/runs/{run_id}", { params: { path } }));
      }
    },
    onSuccess: onAdded,
    onSettled: () => refresh(client),
  });
}

/** Removes a run. A baseline stays one outside of the experiment, so it is unset too. */
export function useRemoveRun(id: string, baseline: string | null) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (run: string) => {
      const path = { experiment_id: id, run_id: run };
      if (run === baseline)
        await read(
          api.PATCH("/v1/experiments/{experiment_id}", { params: { path }, body: { baselineRunId: null } }),
        );
      await read(api.DELETE("/v1/experiments/{experiment_id}/runs/{run_id}", { params: { path } }));
    },
    onSettled: () => refresh(client),
  });
}

function refresh(client: ReturnType<typeof useQueryClient>) {
  return Promise.all([
    client.invalidateQueries({ queryKey: ["experiments"] }),
    client.invalidateQueries({ queryKey: ["runs"] }),
  ]);
}
