import createClient, { type FetchResponse } from "openapi-fetch";
import type { paths } from "../../generated/schema";
import { origin } from "../lib/base";
import { isSessionEnded, readToken, renewIfDue } from "./session";
import type { Problem, Schemas } from "./types";

/** Represents a refusal by the API, with its problem document, or the failure to reach it (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly fields: readonly { field: string; message: string }[] = [],
    readonly requestId: string | null = null,
    readonly retryAfterSeconds: number | null = null,
    readonly estimate: Schemas["Estimate"] | null = null,
  ) {
    super(detail);
  }

  /** Tells whether the same request may succeed later. */
  get isTransient(): boolean {
    return (
      this.status === 0 ||
      this.status === 429 ||
      this.status === 502 ||
      this.status === 503 ||
      this.status === 504
    );
  }
}

export const api = createClient<paths>({
  baseUrl: origin,
  querySerializer: { array: { style: "form", explode: true } },
});

api.use({
  async onRequest({ request }) {
    if (request.headers.has("Authorization")) return request;
    if (isSessionEnded()) throw new ApiError(401, "Signed out", "The session has ended: sign in again.");
    await renewIfDue();
    const token = readToken();
    if (token) request.headers.set("Authorization", `Bearer ${token}`);
    return request;
  },
  onError({ error }) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "Not connected", "The API could not be reached. Is the stack running?");
  },
});

/** Returns the body of a successful response, and throws an ApiError for any other. */
export async function read<T extends Record<string | number, unknown>, O, M extends `${string}/${string}`>(
  answer: Promise<FetchResponse<T, O, M>>,
): Promise<NonNullable<FetchResponse<T, O, M>["data"]>> {
  const { data, error, response } = await answer;
  if (response.ok) return data as NonNullable<FetchResponse<T, O, M>["data"]>;
  throw toError(response, error);
}

/** Returns the body with its ETag: as `If-Match`, it refuses a change that is based on another state. */
export async function readTagged<
  T extends Record<string | number, unknown>,
  O,
  M extends `${string}/${string}`,
>(answer: Promise<FetchResponse<T, O, M>>) {
  const value = await read(answer);
  return { value, etag: (await answer).response.headers.get("ETag") };
}

export function nullIfNotFound(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null;
  throw error;
}

export function nullIfConflict(error: unknown): null {
  if (error instanceof ApiError && error.status === 409) return null;
  throw error;
}

export function ifMatch(etag: string | null): { "If-Match"?: string } {
  return etag === null ? {} : { "If-Match": etag };
}

export function toError(response: Response, body: unknown): ApiError {
  const problem = (typeof body === "object" && body !== null ? body : {}) as Partial<Problem>;
  const wait = Number(response.headers.get("Retry-After"));
  return new ApiError(
    response.status,
    problem.title ?? `The API answered ${response.status}`,
    problem.detail ?? response.statusText,
    problem.errors ?? [],
    problem.requestId ?? response.headers.get("apigw-requestid"),
    wait > 0 ? wait : null,
    problem.estimate ?? null,
  );
}
