import { queryOptions } from "@tanstack/react-query";
import { advance, BEGIN, type TurnProgress } from "../lib/turns";
import { api, nullIfConflict, read, readTagged } from "./client";
import { listQuery, readAll } from "./lists";
import type { Branch, Chat, Exchange, Schemas, Variant } from "./types";

const WAIT_SECONDS = 2;
const PAUSE_MS = 200;

export const chatListQuery = listQuery<Chat>(["chats", "list"], (query, signal) =>
  read(api.GET("/v1/chats", { signal, params: { query } })),
);

export const chatQuery = (id: string) =>
  queryOptions({
    queryKey: ["chats", id],
    queryFn: ({ signal }) =>
      readTagged(api.GET("/v1/chats/{chat_id}", { signal, params: { path: { chat_id: id } } })),
  });

export const branchesQuery = (id: string) =>
  queryOptions({
    queryKey: ["chats", id, "branches"],
    queryFn: ({ signal }) =>
      readAll<Branch>((query) =>
        read(api.GET("/v1/chats/{chat_id}/branches", { signal, params: { path: { chat_id: id }, query } })),
      ),
  });

/** Lists exchanges newest first, with messages that later prompts leave out. */
export const exchangesQuery = (id: string, branch: string) =>
  listQuery<Exchange>(["chats", id, "exchanges", branch], (query, signal) =>
    read(
      api.GET("/v1/chats/{chat_id}/branches/{branch_id}/exchanges", {
        signal,
        params: { path: { chat_id: id, branch_id: branch }, query: { ...query, include: ["hidden"] } },
      }),
    ),
  );

export const variantsQuery = (id: string, message: string) =>
  queryOptions({
    queryKey: ["chats", id, "variants", message],
    queryFn: ({ signal }) =>
      readAll<Variant>((query) =>
        read(
          api.GET("/v1/chats/{chat_id}/messages/{message_id}/variants", {
            signal,
            params: { path: { chat_id: id, message_id: message }, query },
          }),
        ),
      ),
  });

export const artifactsQuery = (id: string, branch: string) =>
  queryOptions({
    queryKey: ["chats", id, "artifacts", branch],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/chats/{chat_id}/branches/{branch_id}/artifacts", {
          signal,
          params: { path: { chat_id: id, branch_id: branch }, query: { include: ["internal"] } },
        }),
      ),
  });

export const turnQuery = (id: string, turn: string) =>
  queryOptions({
    queryKey: ["chats", id, "turns", turn],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/chats/{chat_id}/turns/{turn_id}", {
          signal,
          params: { path: { chat_id: id, turn_id: turn } },
        }),
      ),
  });

export const turnPromptQuery = (id: string, turn: string) =>
  queryOptions({
    queryKey: ["chats", id, "turns", turn, "prompt"],
    queryFn: ({ signal }) =>
      read(
        api.GET("/v1/chats/{chat_id}/turns/{turn_id}/prompt", {
          signal,
          params: { path: { chat_id: id, turn_id: turn } },
        }),
      ).catch(nullIfConflict),
  });

/** Reads the progress of a turn: each answer has the events and the text after those that were read. */
export const turnProgressQuery = (id: string, turn: string) =>
  queryOptions({
    queryKey: ["chats", id, "progress", turn],
    queryFn: async ({ signal, client, queryKey }): Promise<TurnProgress> => {
      const before = client.getQueryData<TurnProgress>(queryKey) ?? BEGIN;
      const path = { chat_id: id, turn_id: turn };
      const { attempt, length } = before.draft;
      const query = { after: before.lastSeq, text: `${attempt}.${length}`, wait: WAIT_SECONDS };
      const answer = api.GET("/v1/chats/{chat_id}/turns/{turn_id}/events", {
        signal,
        params: { path, query },
      });
      const list = await read(answer);
      // It is set if too many requests wait already: then this one did not.
      const retryAfter = Number((await answer).response.headers.get("Retry-After"));
      return advance(before, list as Schemas["TurnEventList"], retryAfter * 1000 || PAUSE_MS);
    },
    refetchInterval: (query) => {
      const { isOver, pauseMs } = query.state.data ?? BEGIN;
      return isOver ? false : pauseMs || PAUSE_MS;
    },
  });
