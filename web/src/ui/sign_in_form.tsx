import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, read } from "../api/client";
import { issuer } from "../api/issuer";
import { sessionQuery } from "../api/queries";
import { storeToken } from "../api/session";
import styles from "./sign_in_form.module.css";
import { Failure } from "./states";

/** Takes an API token, and calls back once it is accepted. */
export function TokenForm({ label, signedIn }: { label: string; signedIn: () => void }) {
  const client = useQueryClient();
  const [token, setToken] = useState("");
  const [isRemembered, remember] = useState(false);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    setSending(true);
    setError(null);
    try {
      const headers = { Authorization: `Bearer ${token.trim()}` };
      const session = await read(api.GET("/v1/session", { headers }));
      storeToken(token.trim(), isRemembered);
      client.setQueryData(sessionQuery.queryKey, session);
      signedIn();
    } catch (refused) {
      setError(refused);
    } finally {
      setSending(false);
    }
  };

  return (
    <>
      <form className={styles.form} onSubmit={signIn}>
        <label htmlFor="token">{label}</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <label className={styles.remember}>
          <input
            type="checkbox"
            checked={isRemembered}
            onChange={(event) => remember(event.target.checked)}
          />
          Remember it in this browser for 12 hours
        </label>
        <button type="submit" data-kind="primary" disabled={token.trim() === "" || isSending}>
          {isSending ? "Signing in…" : "Sign in"}
        </button>
      </form>
      {error !== null && <Failure error={error} what="Signing in" />}
    </>
  );
}

interface IssuerProps {
  /** It is the address to continue at; null means the runs. */
  to: string | null;
  /** If true, this tab stays as it is, and another one leads to the issuer. */
  inOtherTab?: boolean;
}

/** Links to the identity provider, where one is configured. */
export function IssuerLink({ to, inOtherTab = false }: IssuerProps) {
  const address = useQuery({
    queryKey: ["sign-in", to, inOtherTab],
    queryFn: async () => {
      const { signInAddress } = await import("../api/oidc");
      return issuer ? signInAddress(issuer, to, inOtherTab) : "";
    },
    enabled: issuer !== null,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    // Each request has its own state, and the tab remembers the last one.
    gcTime: 0,
  });
  if (issuer === null) return null;
  if (address.isError)
    return (
      <Failure error={address.error} what="The identity provider" retry={() => void address.refetch()} />
    );
  const name = new URL(issuer.address).host;
  return (
    <p>
      {address.data ? (
        <a
          className={styles.issuer}
          href={address.data}
          {...(inOtherTab && { target: "_blank", rel: "noopener" })}
        >
          Sign in with {name}
          {inOtherTab && ", in another tab"}
        </a>
      ) : (
        <span role="status">Looking for {name}…</span>
      )}
    </p>
  );
}
