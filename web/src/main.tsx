import "./tokens.css";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { forgetToken } from "./api/session";
import { redeemFromAddress } from "./api/sign_in";
import { makeRouter } from "./router";
import { applyTheme } from "./ui/shell";

const MAX_RETRIES = 3;

const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof ApiError && error.status === 401) void signInAgain();
    },
  }),
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

/** After the token has expired: to the login, and from there back to the same address. */
async function signInAgain(): Promise<void> {
  const { pathname, href } = router.state.location;
  if (pathname === "/login") return;
  forgetToken();
  await router.navigate({ to: "/login", search: { to: href } });
}

async function start(): Promise<void> {
  applyTheme();
  const refusal = await redeemFromAddress();
  const page = document.getElementById("page");
  if (page === null) throw new Error("index.html has no element for the page");
  if (refusal) void router.navigate({ to: "/login", state: { refusal } });
  createRoot(page).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

void start();
