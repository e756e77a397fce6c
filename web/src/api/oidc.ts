/**
 * Signs in at an OpenID Connect issuer by its authorization code flow with PKCE; loaded where one is configured. The ID
 * token becomes the token of this tab; the refresh token never leaves the memory.
 */
import * as oauth from "oauth4webapi";
import { origin } from "../lib/base";
import type { Issuer } from "./issuer";
import { renewWith, storeToken } from "./session";

const PENDING_KEY = "cupel.sign-in";
/** A state with this prefix has an answer for another tab than the one that the issuer returns to. */
const TAB_PREFIX = "tab.";
const CHANNEL = "cupel.sign-in";

interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly to: string | null;
}

interface Endpoint {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly options: { [oauth.allowInsecureRequests]: boolean };
}

const redirectUri = `${origin}/login`;

async function discover({ address, clientId }: Issuer): Promise<Endpoint> {
  const url = new URL(address);
  const options = { [oauth.allowInsecureRequests]: url.protocol === "http:" };
  const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
  return { server, client: { client_id: clientId }, options };
}

/**
 * Returns the address of the issuer's sign-in. With `inOtherTab`, another tab opens it and passes the answer to this
 * one.
 */
export async function signInAddress(issuer: Issuer, to: string | null, inOtherTab = false): Promise<string> {
  const { server } = await discover(issuer);
  if (!server.authorization_endpoint) throw new Error("the issuer has no authorization endpoint");
  const pending: Pending = {
    state: `${inOtherTab ? TAB_PREFIX : ""}${oauth.generateRandomState()}`,
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    to,
  };
  sessionStorage.setItem(PENDING_KEY, JSON.stringify(pending));
  const address = new URL(server.authorization_endpoint);
  const offline = server.scopes_supported?.includes("offline_access") ? " offline_access" : "";
  const parameters = {
    client_id: issuer.clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: `openid profile email${offline}`,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

/** Exchanges the issuer's answer for a token, and returns the address to continue at. */
export async function finishSignIn(issuer: Issuer, answer: URLSearchParams): Promise<string | null> {
  const stored = sessionStorage.getItem(PENDING_KEY);
  sessionStorage.removeItem(PENDING_KEY);
  if (stored === null) throw new Error("this tab has not asked for it; begin again");
  const pending = JSON.parse(stored) as Pending;
  const endpoint = await discover(issuer);
  const { server, client, options } = endpoint;
  const valid = oauth.validateAuthResponse(server, client, answer, pending.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    valid,
    redirectUri,
    pending.verifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: pending.nonce,
    requireIdToken: true,
  });
  use(endpoint, tokens, tokens.refresh_token);
  return pending.to;
}

function use(
  endpoint: Endpoint,
  tokens: oauth.TokenEndpointResponse,
  refreshToken: string | undefined,
): void {
  if (!tokens.id_token) throw new Error("the issuer sent no ID token");
  storeToken(tokens.id_token);
  const claims = oauth.getValidatedIdTokenClaims(tokens);
  if (!refreshToken || !claims) return;
  renewWith({ expiresAt: 1_000 * claims.exp, renew: () => refresh(endpoint, refreshToken) });
}

async function refresh(endpoint: Endpoint, token: string): Promise<void> {
  const { server, client, options } = endpoint;
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, options);
  const tokens = await oauth.processRefreshTokenResponse(server, client, response);
  use(endpoint, tokens, tokens.refresh_token ?? token);
}

/** Passes the issuer's answer to the tab that asked; returns false if this tab asked. */
export function passToOtherTab(answer: URLSearchParams): boolean {
  if (!answer.get("state")?.startsWith(TAB_PREFIX)) return false;
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(answer.toString());
  channel.close();
  return true;
}

/** Calls back with the issuer's answer that another tab has got. It is useless to others, who have no verifier. */
export function watchOtherTab(answered: (answer: URLSearchParams) => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    const answer = new URLSearchParams(String(data));
    const stored = sessionStorage.getItem(PENDING_KEY);
    if (stored !== null && (JSON.parse(stored) as Pending).state === answer.get("state")) answered(answer);
  };
  return () => channel.close();
}
