import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { variantsQuery } from "../../api/chats";
import { api, read } from "../../api/client";
import type { Branch, ChatMessage, Schemas, Variant } from "../../api/types";
import { costText, counted, visible } from "../../lib/format";
import { asValue } from "../../lib/turns";
import { CopyButton } from "../../ui/copy";
import { useToggle } from "../../ui/fold";
import { Failure, Loading } from "../../ui/states";
import { TextField } from "../../ui/text_field";
import { Ago } from "../../ui/time";
import { useFormat } from "../transcript/format";
import { Said } from "../transcript/said";
import { useChatChange } from "./changes";
import styles from "./chat.module.css";

interface Props {
  chatId: string;
  branch: Branch;
  message: ChatMessage;
  number: number;
  canWrite: boolean;
}

export const STATES = {
  done: "",
  aborted: "aborted: the beginning of an answer",
  error: "the call failed here",
} as const;
const KINDS = { main: "", edit: "edited", rewrite: "rewritten by an operation" } as const;
const MAX_LENGTH = 100_000;

/** Shows a message of this branch, an answer in the reader's format. */
export function MessageView({ chatId, branch, message, number, canWrite }: Props) {
  const [isEditing, edit] = useState(false);
  const format = useFormat();
  const isUser = message.role === "user";
  const what = `${isUser ? "message" : "answer"} ${number}`;
  const path = { chat_id: chatId, branch_id: branch.id, message_id: message.id };
  const update = useChatChange(chatId, (body: Schemas["UpdateMessage"]) =>
    read(
      api.PATCH("/v1/chats/{chat_id}/branches/{branch_id}/messages/{message_id}", {
        params: { path },
        body: { ...body, revision: branch.revision },
      }),
    ),
  );
  const remove = useChatChange(chatId, () =>
    read(api.DELETE("/v1/chats/{chat_id}/branches/{branch_id}/messages/{message_id}", { params: { path } })),
  );
  const isBusy = update.isPending || remove.isPending;
  const save = (content: string) => update.mutate({ content }, { onSuccess: () => edit(false) });
  const usage = message.usage;
  return (
    <article
      className={styles.message}
      data-role={message.role}
      data-hidden={message.hidden}
      aria-label={what}
    >
      <div className={styles.role}>{isUser ? "User" : "Model"}</div>
      <div className={styles.body}>
        {isEditing ? (
          <Edit message={message} what={what} isBusy={isBusy} save={save} close={() => edit(false)} />
        ) : (
          <Said text={message.content} format={isUser ? "text" : format} />
        )}
        {message.annotations.map((each, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: notes of an answer never move
          <p key={index} className={styles.note}>
            {visible(asValue(each) ?? "")}
          </p>
        ))}
        <p className={styles.meta}>
          {message.hidden && <strong>hidden: later prompts leave it out</strong>}
          {STATES[message.status] !== "" && <strong>{STATES[message.status]}</strong>}
          {KINDS[message.kind] !== "" && <span>{KINDS[message.kind]}</span>}
          {message.modelId && <span>{visible(message.modelId)}</span>}
          {usage && <span>{counted(usage.inputTokens + usage.outputTokens, "token")}</span>}
          {usage && <span>{costText(message.costUsd)}</span>}
          <Ago time={message.createdAt} />
        </p>
        {!isEditing && (
          <div className={styles.actions}>
            <CopyButton label="Copy" of={what} text={message.content} />
            {canWrite && (
              <>
                <Action name="Edit" what={what} isBusy={isBusy} act={() => edit(true)} />
                <Action
                  name={message.hidden ? "Show" : "Hide"}
                  what={what}
                  isBusy={isBusy}
                  act={() => update.mutate({ hidden: !message.hidden })}
                />
                <Action name="Delete" what={what} isBusy={isBusy} act={() => remove.mutate(undefined)} />
              </>
            )}
          </div>
        )}
        {update.isError && <Failure error={update.error} what="The message was not changed" />}
        {remove.isError && <Failure error={remove.error} what="The message was not deleted" />}
        {message.variantCount > 1 && (
          <Variants
            chatId={chatId}
            message={message}
            what={what}
            select={canWrite && !isBusy ? (selected) => update.mutate({ selected }) : undefined}
          />
        )}
      </div>
    </article>
  );
}

interface ActionProps {
  name: string;
  what: string;
  isBusy: boolean;
  act: () => void;
}

function Action({ name, what, isBusy, act }: ActionProps) {
  return (
    <button type="button" disabled={isBusy} onClick={act}>
      {name}
      <span className="hidden-text"> {what}</span>
    </button>
  );
}

interface EditProps {
  message: ChatMessage;
  what: string;
  isBusy: boolean;
  save: (content: string) => void;
  close: () => void;
}

function Edit({ message, what, isBusy, save, close }: EditProps) {
  const [text, setText] = useState(message.content);
  const isValid = text.trim() !== "" && text !== message.content;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) save(text);
  };
  return (
    <form className={styles.edit} onSubmit={submit}>
      <TextField
        label={`New wording of ${what}`}
        id={`edit-${message.id}`}
        rows={5}
        maxLength={MAX_LENGTH}
        note="The earlier wording stays as a variant"
        value={text}
        onChange={setText}
      />
      <div className={styles.actions}>
        <button type="submit" data-kind="primary" disabled={!isValid || isBusy}>
          Save
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface VariantsProps {
  chatId: string;
  message: ChatMessage;
  what: string;
  select: ((number: number) => void) | undefined;
}

/** Lists all wordings of a message, of which this branch shows one. */
function Variants({ chatId, message, what, select }: VariantsProps) {
  const [isOpen, toggle] = useToggle();
  const query = useQuery({ ...variantsQuery(chatId, message.id), enabled: isOpen });
  return (
    <details className={styles.fold} onToggle={toggle}>
      <summary>
        {counted(message.variantCount, "variant")}
        <span className="hidden-text"> of {what}</span>
      </summary>
      {isOpen && query.isPending && <Loading what="the variants" rows={2} />}
      {query.isError && <Failure error={query.error} what="The variants" />}
      <ol className={styles.variants} aria-label={`Variants of ${what}`}>
        {query.data?.map((variant) => (
          <VariantItem
            key={variant.number}
            variant={variant}
            isSelected={variant.number === message.number}
            select={select}
          />
        ))}
      </ol>
    </details>
  );
}

interface VariantItemProps {
  variant: Variant;
  isSelected: boolean;
  select: ((number: number) => void) | undefined;
}

function VariantItem({ variant, isSelected, select }: VariantItemProps) {
  return (
    <li aria-current={isSelected || undefined}>
      <p className={styles.meta}>
        <strong>Variant {variant.number}</strong>
        {STATES[variant.status] !== "" && <strong>{STATES[variant.status]}</strong>}
        {KINDS[variant.kind] !== "" && (
          <span>
            {KINDS[variant.kind]}
            {variant.basedOn !== null && `, from variant ${variant.basedOn}`}
          </span>
        )}
        {variant.modelId && <span>{visible(variant.modelId)}</span>}
        <Ago time={variant.createdAt} />
        {isSelected && <span>shown</span>}
      </p>
      <p className={styles.text}>{visible(variant.content)}</p>
      {!isSelected && select && (
        <button type="button" onClick={() => select(variant.number)}>
          Show<span className="hidden-text"> variant {variant.number}</span>
        </button>
      )}
    </li>
  );
}
