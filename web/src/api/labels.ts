import { queryOptions } from "@tanstack/react-query";
import { isVerdict } from "../lib/labelling";
import { api, read } from "./client";
import { readAll } from "./lists";
import type { Label, LabelSetItem, Schemas } from "./types";

/** So many transcripts are read ahead of the one that is labelled. */
const READ_AHEAD = 20;

/** Names what is labelled: a criterion, judged by the run itself or by one of its rescores. */
export interface Judged {
  readonly criterion: string;
  readonly rescoreId: string | null;
}

export const labelSetsQuery = (id: string) =>
  queryOptions({
    queryKey: ["run", id, "label sets"],
    queryFn: ({ signal }) =>
      readAll((query) =>
        read(api.GET("/v1/runs/{run_id}/label-sets", { signal, params: { path: { run_id: id }, query } })),
      ),
  });

export const labelSetQuery = (id: string, labelSetId: string) =>
  queryOptions({
    queryKey: ["run", id, "label sets", labelSetId],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/runs/{run_id}/label-sets/{label_set_id}", { signal, params: at(id, labelSetId) })),
  });

/** Reads the transcripts that the user is to label next. */
export const pendingItemsQuery = (id: string, labelSetId: string) =>
  queryOptions({
    queryKey: ["run", id, "label sets", labelSetId, "pending"],
    queryFn: async ({ signal }) => {
      const query = { pending: true, limit: READ_AHEAD };
      const params = { ...at(id, labelSetId), query };
      return read(
        api.GET("/v1/runs/{run_id}/label-sets/{label_set_id}/items", { signal, params }),
      ) as Promise<{ items: LabelSetItem[] }>;
    },
    // What was read before would be labelled twice.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Reads the transcripts that the user has labelled, the last one last. */
export async function readLabelledItems(id: string, labelSetId: string): Promise<LabelSetItem[]> {
  const items: LabelSetItem[] = await readAll((query) => {
    const params = { ...at(id, labelSetId), query };
    return read(api.GET("/v1/runs/{run_id}/label-sets/{label_set_id}/items", { params }));
  });
  const timeOf = (item: LabelSetItem) => item.label?.updatedAt ?? "";
  return items
    .filter((each) => isVerdict(each.label))
    .sort((one, other) => timeOf(one).localeCompare(timeOf(other)));
}

export const calibrationQuery = (id: string, { criterion, rescoreId }: Judged) =>
  queryOptions({
    queryKey: ["run", id, "calibration", criterion, rescoreId],
    queryFn: ({ signal }) => {
      const query = { criterion, ...(rescoreId !== null && { rescoreId }) };
      return read(
        api.GET("/v1/runs/{run_id}/calibration", { signal, params: { path: { run_id: id }, query } }),
      );
    },
    retry: false,
  });

/** Reads what people have said about a criterion of a run. */
export const labelsQuery = (id: string, criterion: string) =>
  queryOptions({
    queryKey: ["run", id, "labels", criterion],
    queryFn: ({ signal }): Promise<Label[]> =>
      readAll((query) => {
        const params = { path: { run_id: id }, query: { ...query, criterion } };
        return read(api.GET("/v1/runs/{run_id}/labels", { signal, params }));
      }),
  });

/** Reads what people have said about a criterion of one conversation. */
export const labelsOfProbeQuery = (id: string, index: number, criterion: string) =>
  queryOptions({
    queryKey: ["run", id, "labels", criterion, index],
    queryFn: ({ signal }): Promise<Label[]> =>
      readAll((query) => {
        const params = { path: { run_id: id }, query: { ...query, criterion, probeIndex: index } };
        return read(api.GET("/v1/runs/{run_id}/labels", { signal, params }));
      }),
  });

export function createLabelSet(id: string, body: Partial<Schemas["CreateLabelSet"]>) {
  return read(
    api.POST("/v1/runs/{run_id}/label-sets", {
      params: { path: { run_id: id } },
      body: body as Schemas["CreateLabelSet"],
    }),
  );
}

export async function deleteLabelSet(id: string, labelSetId: string): Promise<void> {
  await read(api.DELETE("/v1/runs/{run_id}/label-sets/{label_set_id}", { params: at(id, labelSetId) }));
}

export type GivenLabel = Pick<Schemas["SaveLabel"], "criterion" | "note"> &
  Partial<Pick<Schemas["SaveLabel"], "value" | "labelSetId" | "verdictVisible">>;

export function saveLabel(probeId: string, body: GivenLabel) {
  return read(
    api.PUT("/v1/probes/{probe_id}/label", {
      params: { path: { probe_id: probeId } },
      body: body as Schemas["SaveLabel"],
    }),
  );
}

export async function deleteLabel(probeId: string, criterion: string): Promise<void> {
  const params = { path: { probe_id: probeId }, query: { criterion } };
  await read(api.DELETE("/v1/probes/{probe_id}/label", { params }));
}

export function revealVerdict(probeId: string, criterion: string) {
  return read(
    api.POST("/v1/probes/{probe_id}/label/verdict", {
      params: { path: { probe_id: probeId } },
      body: { criterion },
    }),
  );
}

function at(id: string, labelSetId: string) {
  return { path: { run_id: id, label_set_id: labelSetId } };
}
