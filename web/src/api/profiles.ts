import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, read, readTagged } from "./client";
import { listQuery, readAll } from "./lists";
import type { ProfileBody, ProfileSummary } from "./types";

export const profilesQuery = listQuery<ProfileSummary>(["profiles", "list"], (query, signal) =>
  read(api.GET("/v1/profiles", { signal, params: { query } })),
);

export const profileNamesQuery = queryOptions({
  queryKey: ["profiles", "names"],
  queryFn: ({ signal }) =>
    readAll<ProfileSummary>((query) => read(api.GET("/v1/profiles", { signal, params: { query } }))),
});

export const profileQuery = (id: string, version?: number) =>
  queryOptions({
    // Edited fields stay as they were when they were opened.
    refetchOnReconnect: false,
    queryKey: ["profiles", id, version ?? "latest"],
    queryFn: ({ signal }) =>
      readTagged(
        api.GET("/v1/profiles/{profile_id}", {
          signal,
          params: { path: { profile_id: id }, query: version === undefined ? {} : { version } },
        }),
      ),
  });

/** Checks a profile as it is written, and returns what a turn would run; writes nothing. */
export const profileCheckQuery = (body: ProfileBody) =>
  queryOptions({
    queryKey: ["profiles", "check", body],
    queryFn: ({ signal }) => read(api.POST("/v1/profiles/check", { signal, body })),
    placeholderData: keepPreviousData,
    retry: false,
  });
