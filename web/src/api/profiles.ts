import { queryOptions } from "@tanstack/react-query";
import { api, read, type Schemas } from "./client";
import { readAll } from "./lists";

export type ProfileSummary = Schemas["ProfileSummary"];

export const profileNamesQuery = queryOptions({
  queryKey: ["profiles", "names"],
  queryFn: ({ signal }) =>
    readAll<ProfileSummary>((query) => read(api.GET("/v1/profiles", { signal, params: { query } }))),
});
