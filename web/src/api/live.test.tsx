// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { cleanup, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { useFollowing } from "./live";
import type { Run } from "./types";

// The client of the API takes its `fetch` when it is loaded.
const network = vi.hoisted(() => {
  const state = { answer: (_: Request): Promise<Response> => Promise.reject(new Error("not expected")) };
  globalThis.fetch = ((request: Request) => state.answer(request)) as typeof fetch;
  return state;
});
const page = vi.hoisted(() => ({ comeBack: () => Promise.resolve() as Promise<unknown> }));
vi.mock("./watching", () => ({
  mayAsk: () => Promise.resolve(),
  onReturn: (ask: () => Promise<unknown>) => {
    page.comeBack = ask;
    return () => undefined;
  },
}));

const ID = "run_1";
const runOf = (status: Run["status"]) => ({ id: ID, status }) as Run;
const frame = (seq: number | null, type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ seq, type, ts: "2026-11-25T10:00:00Z", runId: ID, data })}\n\n`;

afterEach(cleanup);

/** The hook with answers of the event stream, one after another; then none comes. */
function followed(answers: (() => Response)[]) {
  const asked: Request[] = [];
  network.answer = (request) => {
    asked.push(request);
    const answer = answers.shift();
    return answer ? Promise.resolve(answer()) : new Promise(() => undefined);
  };
  const client = new QueryClient();
  client.setQueryData(["run", ID], runOf("RUNNING"));
  client.setQueryData(["run", ID, "progress"], {});
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const hook = renderHook(({ run }) => useFollowing(run), {
    wrapper,
    initialProps: { run: runOf("RUNNING") },
  });
  return { ...hook, client, asked };
}

const isStale = (client: QueryClient, ...key: string[]) =>
  client.getQueryState(["run", ID, ...key])?.isInvalidated;

test("events are known at once, and mark what has to be read again", async () => {
  const text =
    frame(3, "run.paused", { to: "PAUSED" }) +
    frame(null, "run.progress", { total: 9, completed: 4, failed: 1 });
  const { result, client, asked } = followed([() => new Response(text)]);
  await waitFor(() => expect(result.current.events.map((each) => each.seq)).toEqual([3]));
  expect(asked[0]?.headers.get("Accept")).toBe("text/event-stream");
  expect(asked[0]?.headers.get("Last-Event-ID")).toBe("0");
  await waitFor(() => expect(isStale(client, "progress")).toBe(true));
  expect(isStale(client)).toBe(true);
  expect(client.getQueryData<Run>(["run", ID])?.progress).toEqual({ total: 9, completed: 4, failed: 1 });
});

test("a run that has ended meanwhile is read again as a whole", async () => {
  const { client, rerender } = followed([() => new Response(frame(1, "run.started", {}))]);
  await waitFor(() => expect(isStale(client)).toBe(true));
  expect(isStale(client, "progress")).toBe(false);
  rerender({ run: runOf("COMPLETED") });
  await waitFor(() => expect(isStale(client, "progress")).toBe(true));
});

test("a run that is over is not asked for", async () => {
  const { client, rerender, asked } = followed([() => new Response(null, { status: 204 })]);
  await waitFor(() => expect(isStale(client, "progress")).toBe(true));
  rerender({ run: runOf("COMPLETED") });
  expect(asked).toHaveLength(1);
});

test.each([
  ["that has not changed", "2026-11-25T10:00:00Z", false],
  ["that has ended anew", "2026-11-25T11:00:00Z", true],
])("a run that is over, %s, is asked for when someone comes back", async (_, updatedAt, isReadAgain) => {
  const before = { ...runOf("COMPLETED"), updatedAt: "2026-11-25T10:00:00Z" };
  const client = new QueryClient();
  const queryFn = vi.fn(() => Promise.resolve({ ...before, updatedAt }));
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  renderHook(() => useQuery({ queryKey: ["run", ID], queryFn, initialData: before, staleTime: 60_000 }), {
    wrapper,
  });
  client.setQueryData(["run", ID, "results"], {});
  renderHook(() => useFollowing(before), { wrapper });
  expect(queryFn).not.toHaveBeenCalled();
  await page.comeBack();
  expect(queryFn).toHaveBeenCalledTimes(1);
  expect(isStale(client, "results")).toBe(isReadAgain);
});

test("a failure is said with the time of the next try", async () => {
  const { result } = followed([() => new Response("{}", { status: 503 })]);
  await waitFor(() => expect(result.current.lost).not.toBeNull());
  expect(result.current.lost?.nextTry).toBeGreaterThanOrEqual((result.current.lost?.since ?? 0) + 1_000);
});
