import { queryOptions } from "@tanstack/react-query";
import { mayChange } from "../lib/experiments";
import { api, read, readTagged } from "./client";
import { listQuery, readAll } from "./lists";
import type { EstimateOptions } from "./queries";
import type { Connector, Eval, EvalRun, Experiment, Persona, Schedule, Schemas } from "./types";

export const experimentsQuery = listQuery<Experiment>(["experiments"], (query, signal) =>
  read(api.GET("/v1/experiments", { signal, params: { query } })),
);
export const schedulesQuery = listQuery<Schedule>(["schedules"], (query, signal) =>
  read(api.GET("/v1/schedules", { signal, params: { query } })),
);
export const personasQuery = listQuery<Persona>(["personas"], (query, signal) =>
  read(api.GET("/v1/personas", { signal, params: { query } })),
);
export const connectorsQuery = listQuery<Connector>(["connectors"], (query, signal) =>
  read(api.GET("/v1/connectors", { signal, params: { query } })),
);
export const evalsQuery = listQuery<Eval>(["evals"], (query, signal) =>
  read(api.GET("/v1/evals", { signal, params: { query } })),
);

export const personaNamesQuery = queryOptions({
  queryKey: ["personas", "names"],
  queryFn: ({ signal }) =>
    readAll<Persona>((query) => read(api.GET("/v1/personas", { signal, params: { query } }))),
});
export const connectorNamesQuery = queryOptions({
  queryKey: ["connectors", "names"],
  queryFn: ({ signal }) =>
    readAll<Connector>((query) => read(api.GET("/v1/connectors", { signal, params: { query } }))),
});
export const experimentNamesQuery = queryOptions({
  queryKey: ["experiments", "names"],
  queryFn: ({ signal }) =>
    readAll<Experiment>((query) => read(api.GET("/v1/experiments", { signal, params: { query } }))),
});
export const evalNamesQuery = queryOptions({
  queryKey: ["evals", "names"],
  queryFn: ({ signal }) =>
    readAll<Eval>((query) => read(api.GET("/v1/evals", { signal, params: { query } }))),
});

export const experimentQuery = (id: string) =>
  queryOptions({
    queryKey: ["experiments", id],
    queryFn: ({ signal }) =>
      readTagged(
        api.GET("/v1/experiments/{experiment_id}", { signal, params: { path: { experiment_id: id } } }),
      ),
  });

const SUMMARY_MS = 5_000;

export const experimentSummaryQuery = (id: string) =>
  queryOptions({
    queryKey: ["experiments", id, "summary"],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/experiments/{experiment_id}/summary", {
          signal,
          params: { path: { experiment_id: id } },
        }),
      ),
    refetchInterval: (query) => (mayChange(query.state.data) ? SUMMARY_MS : false),
  });
/** Edited fields stay as they were when they were opened. */
const EDITED = { staleTime: 0, gcTime: 0, refetchOnReconnect: false } as const;

export const personaQuery = (id: string) =>
  queryOptions({
    ...EDITED,
    queryKey: ["personas", id],
    queryFn: ({ signal }) =>
      readTagged(api.GET("/v1/personas/{persona_id}", { signal, params: { path: { persona_id: id } } })),
  });
export const connectorQuery = (id: string) =>
  queryOptions({
    ...EDITED,
    queryKey: ["connectors", id],
    queryFn: ({ signal }) =>
      readTagged(
        api.GET("/v1/connectors/{connector_id}", { signal, params: { path: { connector_id: id } } }),
      ),
  });
export const evalQuery = (id: string) =>
  queryOptions({
    queryKey: ["evals", id],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/evals/{eval_id}", { signal, params: { path: { eval_id: id } } })),
  });
export const evalEditQuery = (id: string) =>
  queryOptions({
    ...EDITED,
    queryKey: ["evals", id, "edit"],
    queryFn: ({ signal }) =>
      readTagged(api.GET("/v1/evals/{eval_id}", { signal, params: { path: { eval_id: id } } })),
  });
export const scheduleEditQuery = (id: string) =>
  queryOptions({
    ...EDITED,
    queryKey: ["schedules", id, "edit"],
    queryFn: ({ signal }) =>
      readTagged(api.GET("/v1/schedules/{schedule_id}", { signal, params: { path: { schedule_id: id } } })),
  });

export const evalEstimateQuery = (id: string, run: EvalRun): EstimateOptions => ({
  queryKey: ["evals", id, "estimate", run],
  queryFn: ({ signal }) =>
    read(
      api.POST("/v1/evals/{eval_id}/runs/estimate", {
        signal,
        params: { path: { eval_id: id } },
        body: run as Schemas["EstimateEvalRun"],
      }),
    ),
  retry: false,
});
