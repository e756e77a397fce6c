import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, read } from "../../api/client";
import { sessionQuery } from "../../api/queries";
import { tokensQuery } from "../../api/system";
import type { Token } from "../../api/types";
import { formatAgo, visible } from "../../lib/format";
import { Dialog, DialogActions } from "../../ui/dialog";
import { More } from "../../ui/more";
import { useNow } from "../../ui/now";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure, Loading, RoleTooLow } from "../../ui/states";
import { NewToken } from "./new_token";
import { SystemTabs } from "./system_tabs";

export function Tokens() {
  const session = useQuery(sessionQuery);
  const { data } = session;
  return (
    <>
      <title>Tokens · Cupel</title>
      <h1>Tokens</h1>
      <SystemTabs />
      {session.isPending && <Loading what="your session" />}
      {session.isError && (
        <Failure error={session.error} what="Your session" retry={() => void session.refetch()} />
      )}
      {data && data.role !== "admin" && (
        <RoleTooLow detail={`Tokens are managed with the role admin; this session has ${data.role}.`} />
      )}
      {data?.role === "admin" && (
        <>
          <NewToken />
          <List own={data.tokenId} />
        </>
      )}
    </>
  );
}

function List({ own }: { own: string }) {
  const query = useInfiniteQuery(tokensQuery);
  const [revoked, revoke] = useState<Token | null>(null);
  const now = useNow();
  const items = query.data?.pages.flatMap((each) => each.items) ?? [];
  if (query.isPending) return <Loading what="tokens" />;
  if (query.data === undefined)
    return <Failure error={query.error} what="Tokens" retry={() => void query.refetch()} />;
  return (
    <Section title="Tokens">
      <ScrollRegion label="Tokens">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Role</th>
              <th scope="col">State</th>
              <th scope="col">Last used</th>
              <th scope="col">Created</th>
              <th scope="col">
                <span className="hidden-text">Action</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((token) => (
              <tr key={token.id}>
                <th scope="row" className={page.name}>
                  {visible(token.name)}
                  {token.id === own && <small>this session</small>}
                </th>
                <td>{token.role}</td>
                <td className={page.cell}>{stateOf(token, now)}</td>
                <td>{token.lastUsedAt === null ? "never" : formatAgo(token.lastUsedAt, now)}</td>
                <td>{formatAgo(token.createdAt, now)}</td>
                <td className="figure">
                  {token.revokedAt === null && (
                    <button
                      type="button"
                      aria-label={`Revoke ${visible(token.name)}`}
                      onClick={() => revoke(token)}
                    >
                      Revoke…
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <More query={query} shown={items.length} noun="token" />
      {revoked && <Revoke token={revoked} isOwn={revoked.id === own} close={() => revoke(null)} />}
    </Section>
  );
}

function stateOf(token: Token, now: number): string {
  if (token.revokedAt !== null) return `revoked ${formatAgo(token.revokedAt, now)}`;
  if (token.expiresAt === null) return "valid";
  const date = new Date(token.expiresAt).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
  return Date.parse(token.expiresAt) < now ? `expired ${date}` : `valid until ${date}`;
}

function Revoke({ token, isOwn, close }: { token: Token; isOwn: boolean; close: () => void }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () => read(api.DELETE("/v1/tokens/{token_id}", { params: { path: { token_id: token.id } } })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: isOwn ? ["session"] : ["tokens"] });
      close();
    },
  });
  return (
    <Dialog title="Revoke this token?" close={close}>
      <p>
        “{visible(token.name)}” is refused from the next request on, for good.{" "}
        {isOwn && "It is the one of this session: you will be signed out."}
      </p>
      <DialogActions>
        <button type="button" data-kind="primary" disabled={change.isPending} onClick={() => change.mutate()}>
          Revoke
        </button>
        <button type="button" onClick={close}>
          Keep it
        </button>
      </DialogActions>
      {change.isError && <Failure error={change.error} what="The token was not revoked" />}
    </Dialog>
  );
}
