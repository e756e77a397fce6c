import "./tokens.css";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { endSession } from "./api/session";
import { signInFromAddress } from "./api/sign_in";
import { makeRouter } from "./router";
import { applyTheme } from "./ui/shell";

const MAX_RETRIES = 3;

const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endIfRefused }),
  mutationCache: new MutationCache({ onError: endIfRefused }),
  defaultOptions: {
    queries: {
      retry: (count, error) => count < MAX_RETRIES && error instanceof ApiError && error.isTransient,
      retryDelay: (count, error) =>
        error instanceof ApiError && error.retryAfterSeconds
          ? 1000 * error.retryAfterSeconds
          : 500 * 2 ** count,
      staleTime: 1_000,
      refetchOnWindowFocus: false,
    },
  },
});
const router = makeRouter(client);

/** Ends an expired or revoked session: open screens stay, and ask to sign in again. */
function endIfRefused(error: Error): void {
  const isRefused = error instanceof ApiError && error.status === 401;
  if (isRefused && router.state.location.pathname !== "/login") endSession();
}

async function start(): Promise<void> {
  applyTheme();
  const signIn = await signInFromAddress();
  const page = document.getElementById("page");
  if (page === null) throw new Error("index.html has no element for the page");
  if (signIn.kind === "refused") void router.navigate({ to: "/login", state: { refusal: signIn.why } });
  if (signIn.kind === "passed") void router.navigate({ to: "/login", state: { isElsewhere: true } });
  createRoot(page).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

void start();
