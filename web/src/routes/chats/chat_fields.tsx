import { useQuery } from "@tanstack/react-query";
import { CreateChat } from "../../api/limits";
import { connectorNamesQuery } from "../../api/resources";
import type { Chat, Schemas } from "../../api/types";
import { visible } from "../../lib/format";
import { parseWhole } from "../../lib/forms";
import { Field } from "../../ui/field";
import { ModelField } from "../../ui/model_field";
import { wholeNumberError } from "../../ui/number_field";
import { ProfileField } from "../../ui/profile_field";
import { TextField } from "../../ui/text_field";

const HISTORY = CreateChat.historyLimit;

export interface ChatValues {
  readonly title: string;
  readonly model: string;
  readonly connectorId: string;
  readonly system: string;
  readonly profileId: string;
  readonly history: string;
}

export function isValidChat(values: ChatValues): boolean {
  const hasTarget = values.connectorId !== "" || /^[^/\s]+\/\S+$/.test(values.model.trim());
  return hasTarget && typeof historyOf(values) === "number";
}

/** Returns who answers, as the API names it; `before` is who did. An agent may refuse parameters of a model. */
export function targetOf(values: ChatValues, before?: Chat["target"]): Schemas["ChatTargetInput"] {
  const { connectorId } = values;
  if (connectorId !== "") return { connectorId };
  return { ...(before?.connectorId === null && before), connectorId: null, model: values.model.trim() };
}

export function historyOf(values: ChatValues): number | null | undefined {
  return parseWhole(values.history, HISTORY);
}

interface Props {
  values: ChatValues;
  change: (values: ChatValues) => void;
}

export function ChatFields({ values, change }: Props) {
  const set = (name: keyof ChatValues) => (value: string) => change({ ...values, [name]: value });
  const isAgent = values.connectorId !== "";
  return (
    <>
      <ModelField
        label="Model"
        id="model"
        placeholder="provider/name"
        disabled={isAgent}
        note={isAgent && "The agent answers"}
        value={values.model}
        change={set("model")}
      />
      <AgentField id="agent" value={values.connectorId} change={set("connectorId")} />
      <TextField
        label="Title (optional)"
        id="title"
        maxLength={CreateChat.title.maxLength}
        value={values.title}
        onChange={set("title")}
      />
      <TextField
        label="System prompt (optional)"
        id="system"
        rows={4}
        maxLength={CreateChat.system.maxLength}
        value={values.system}
        onChange={set("system")}
      />
      <ProfileField value={values.profileId} change={set("profileId")} />
      <Field
        label="Maximum earlier exchanges in the prompt"
        id="history"
        error={typeof historyOf(values) === "number" ? null : wholeNumberError(HISTORY)}
      >
        <input
          id="history"
          inputMode="numeric"
          size={6}
          value={values.history}
          onChange={(event) => set("history")(event.target.value)}
        />
      </Field>
    </>
  );
}

interface AgentProps {
  id: string;
  value: string;
  change: (connectorId: string) => void;
}

export function AgentField({ id, value, change }: AgentProps) {
  const connectors = useQuery(connectorNamesQuery);
  const agents = connectors.data?.filter((each) => each.type !== "tools") ?? [];
  if (agents.length === 0 && value === "") return null;
  return (
    <Field
      label="Agent instead of the model"
      id={id}
      note="A connector, which is sent the whole prompt in a new conversation each turn"
    >
      <select id={id} value={value} onChange={(event) => change(event.target.value)}>
        <option value="">none</option>
        {value !== "" && !agents.some((each) => each.id === value) && (
          <option value={value}>{visible(value)}</option>
        )}
        {agents.map((each) => (
          <option key={each.id} value={each.id}>
            {visible(each.name)}
          </option>
        ))}
      </select>
    </Field>
  );
}
