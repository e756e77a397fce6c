import type { Schemas } from "../../api/types";

import type { HeadersChange } from "../../lib/forms";
import { issuesOf, parseObject } from "../../lib/forms";
import { Field } from "../../ui/field";
import { HeadersField } from "../../ui/headers_field";
import { type Issue, JsonField } from "../../ui/json_field";
import { TextField } from "../../ui/text_field";

export type ConnectorType = Schemas["ConnectorType"];
const TYPES: Record<ConnectorType, readonly [string, string]> = {
  openai: ["OpenAI's chat completions", '{"model": "my-agent"}'],
  langgraph: ["LangGraph server", '{"assistantId": "my-agent"}'],
  http: ["plain JSON over HTTP", '{"request": "{text: message}", "reply": "answer"}'],
  tools: ["executes the calls of tools", "{}"],
};

export interface ConnectorValues {
  readonly name: string;
  readonly type: ConnectorType;
  readonly address: string;
  readonly config: string;
  readonly headers: HeadersChange;
}

interface Props {
  values: ConnectorValues;
  set: (changes: Partial<ConnectorValues>) => void;
  headerNames: readonly string[];
  issues: readonly Issue[];
}

export function ConnectorFields({ values, set, headerNames, issues }: Props) {
  const of = (field: string) => issuesOf(issues, field);
  return (
    <>
      <TextField
        label="Name"
        id="name"
        maxLength={100}
        value={values.name}
        error={of("name")[0]?.message}
        onChange={(name) => set({ name })}
      />
      <Field label="Protocol" id="type" error={of("type")[0]?.message}>
        <select
          id="type"
          value={values.type}
          onChange={(event) => set({ type: event.target.value as ConnectorType })}
        >
          {Object.entries(TYPES).map(([value, [label]]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      <TextField
        label="Address"
        id="address"
        maxLength={2048}
        note={headerNames.length > 0 && "If it changes, the headers have to be entered again or removed"}
        value={values.address}
        error={of("baseUrl")[0]?.message}
        onChange={(address) => set({ address })}
      />
      <JsonField
        label="Settings of the protocol, as JSON"
        id="config"
        rows={4}
        path="config"
        note={`Such as ${TYPES[values.type][1]}`}
        value={values.config}
        issues={of("config")}
        onChange={(config) => set({ config })}
      />
      <HeadersField
        stored={headerNames}
        change={values.headers}
        set={(headers) => set({ headers })}
        issues={of("headers")}
      />
    </>
  );
}

export function isComplete(values: ConnectorValues): boolean {
  const hasTexts = values.name.trim() !== "" && values.address.trim() !== "";
  return hasTexts && parseObject(values.config) !== undefined;
}
