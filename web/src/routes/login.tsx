import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter, useRouterState } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { sessionQuery } from "../api/queries";
import { forgetToken, storeToken } from "../api/session";
import { Failure } from "../ui/states";
import styles from "./login.module.css";

const route = getRouteApi("/login");

export function Login() {
  const { to } = route.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const refusal = useRouterState({ select: (state) => state.location.state.refusal });
  const [token, setToken] = useState("");
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    setSending(true);
    setError(null);
    client.clear();
    storeToken(token.trim());
    try {
      await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
      // `to` was made by this page, and is a path below its address.
      router.history.push(
        router.history.createHref(to ?? `${router.options.basepath?.replace(/\/$/, "")}/runs`),
      );
    } catch (refused) {
      forgetToken();
      setError(refused);
    } finally {
      setSending(false);
    }
  };

  return (
    <div className={styles.login}>
      <title>Sign in · Cupel</title>
      <h1>Sign in</h1>
      {refusal && (
        <p role="alert" className={styles.refusal}>
          {refusal}
        </p>
      )}
      <p>
        On the machine where the command <code>cupel</code> is set up, <code>cupel open</code> signs in and
        opens this page.
      </p>
      <form onSubmit={signIn}>
        <label htmlFor="token">Or paste an API token</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <button type="submit" data-kind="primary" disabled={token.trim() === "" || isSending}>
          {isSending ? "Signing in…" : "Sign in"}
        </button>
      </form>
      {error !== null && <Failure error={error} what="Signing in" />}
      <p className={styles.note}>
        The token stays in this tab and is forgotten when it is closed. <code>cupel tokens create</code> makes
        one; for reading, the role viewer suffices.
      </p>
    </div>
  );
}
