import { useQueryClient } from "@tanstack/react-query";
import { useMatchRoute } from "@tanstack/react-router";
import { useEffect, useState, useSyncExternalStore } from "react";
import { issuer } from "../api/issuer";
import { isSessionEnded, leaveEndedSession, watchSession } from "../api/session";
import { Dialog } from "./dialog";
import { IssuerLink, TokenForm } from "./sign_in_form";
import { Failure } from "./states";

/** Asks to sign in again over the open screen, which keeps its typed text; the login asks by itself. */
export function SessionEnded() {
  const hasEnded = useSyncExternalStore(watchSession, isSessionEnded);
  const isAtLogin = useMatchRoute()({ to: "/login" }) !== false;
  return hasEnded && !isAtLogin ? <SignInAgain /> : null;
}

function SignInAgain() {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  // The content stays: outlines in its place would lose typed text.
  const goOn = () => void client.invalidateQueries();
  useEffect(() => {
    if (issuer === null) return;
    const named = issuer;
    const watching = import("../api/oidc").then(({ finishSignIn, watchOtherTab }) =>
      watchOtherTab((answer) => {
        finishSignIn(named, answer).then(() => void client.invalidateQueries(), setError);
      }),
    );
    return () => void watching.then((stop) => stop());
  }, [client]);
  return (
    <Dialog title="Sign in again" close={leaveEndedSession}>
      <p>The session has ended or was revoked. What you have typed into this page is kept.</p>
      <IssuerLink to={null} inOtherTab />
      {error !== null && <Failure error={error} what="Signing in" />}
      <TokenForm label={issuer ? "Or paste an API token" : "Paste an API token"} signedIn={goOn} />
      <p>
        <code>cupel open</code> signs in in another tab; this one needs a token of its own.
      </p>
    </Dialog>
  );
}
