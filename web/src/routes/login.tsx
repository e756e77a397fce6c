import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter, useRouterState } from "@tanstack/react-router";
import { issuer } from "../api/issuer";
import { origin } from "../lib/base";
import { IssuerLink, TokenForm } from "../ui/sign_in_form";
import styles from "./login.module.css";

const route = getRouteApi("/login");

export function Login() {
  const { to } = route.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const { refusal, isElsewhere } = useRouterState({ select: (state) => state.location.state });
  const goOn = () => {
    // Data that was read with another token may belong to another workspace.
    client.clear();
    // This page made `to`, which is a path below its address.
    router.history.push(origin + (to ?? "/runs"));
  };
  if (isElsewhere) {
    return (
      <div className={styles.login}>
        <title>Signed in · Cupel</title>
        <h1>Signed in</h1>
        <p>Go on in the other tab; this one can be closed.</p>
      </div>
    );
  }
  return (
    <div className={styles.login}>
      <title>Sign in · Cupel</title>
      <h1>Sign in</h1>
      {refusal && (
        <p role="alert" className={styles.refusal}>
          {refusal}
        </p>
      )}
      <IssuerLink to={to ?? null} />
      <p>
        {issuer ? "Or, on" : "On"} the machine where the command <code>cupel</code> is set up,{" "}
        <code>cupel open</code> signs in and opens this page.
      </p>
      <TokenForm label="Or paste an API token" signedIn={goOn} />
      <p className={styles.note}>
        Unless it is remembered, the token is forgotten when this tab is closed.{" "}
        <code>cupel tokens create</code> makes one; for reading, the role viewer suffices.
      </p>
    </div>
  );
}
