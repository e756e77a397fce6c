import { queryOptions } from "@tanstack/react-query";
import { api, read } from "./client";

const VALID_MS = 4 * 60_000;

/** Reads a file with the address of its content, which is valid for five minutes. */
export const fileQuery = (id: string) =>
  queryOptions({
    queryKey: ["file", id],
    queryFn: ({ signal }) =>
      read(api.GET("/v1/files/{file_id}", { signal, params: { path: { file_id: id } } })),
    staleTime: VALID_MS,
    gcTime: VALID_MS,
  });
