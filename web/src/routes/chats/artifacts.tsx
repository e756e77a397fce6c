import { useQuery } from "@tanstack/react-query";
import { artifactsQuery } from "../../api/chats";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import type { Branch } from "../../api/types";
import { counted, visible } from "../../lib/format";
import { asValue } from "../../lib/turns";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Section } from "../../ui/section";
import { Failure } from "../../ui/states";
import { Ago } from "../../ui/time";
import { useChatChange } from "./changes";

export function Artifacts({ chatId, branch }: { chatId: string; branch: Branch }) {
  const canWrite = useCanWrite();
  const query = useQuery(artifactsQuery(chatId, branch.id));
  const reset = useChatChange(chatId, () =>
    read(
      api.POST("/v1/chats/{chat_id}/branches/{branch_id}/session/reset", {
        params: { path: { chat_id: chatId, branch_id: branch.id } },
      }),
    ),
  );
  const items = query.data?.items ?? [];
  return (
    <Section title="Artifacts">
      {query.isError && (
        <Failure error={query.error} what="The artifacts" retry={() => void query.refetch()} />
      )}
      {query.isSuccess && items.length === 0 && (
        <p className={page.note}>Operations have stored no lasting artifacts on this branch.</p>
      )}
      {items.map((each) => (
        <div key={each.tag}>
          <h3>
            {each.title !== null && `${visible(each.title)} `}
            <code>{visible(each.tag)}</code>
          </h3>
          <p className={page.facts}>
            <span>version {each.version}</span>
            {each.usage === "internal" && <span>for operations only</span>}
            <span>
              written <Ago time={each.updatedAt} />
            </span>
            <span>in exchange {each.position + 1}</span>
          </p>
          <PlainText label={`Value of ${visible(each.tag)}`} text={asValue(each.value) ?? "null"} isCode />
          {each.history.length > 0 && (
            <details className={page.below}>
              <summary>{counted(each.history.length, "earlier value")}</summary>
              {each.history.map((value, index) => (
                <PlainText
                  // biome-ignore lint/suspicious/noArrayIndexKey: a history never moves
                  key={index}
                  label={`Value ${index + 1} of ${visible(each.tag)}`}
                  text={asValue(value) ?? "null"}
                  isCode
                />
              ))}
            </details>
          )}
        </div>
      ))}
      {canWrite && items.length > 0 && (
        <p className={page.below}>
          <button type="button" disabled={reset.isPending} onClick={() => reset.mutate(undefined)}>
            Begin without artifacts
          </button>
        </p>
      )}
      {reset.isError && <Failure error={reset.error} what="The artifacts were not reset" />}
    </Section>
  );
}
