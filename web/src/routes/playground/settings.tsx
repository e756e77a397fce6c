import { useCallback, useMemo } from "react";
import { ApiError } from "../../api/client";
import { CreateChat } from "../../api/limits";
import { changedAt, type Issue } from "../../lib/content_fields";
import { type Content, isContent } from "../../lib/definitions";
import { CHAT_PARAMETERS } from "../../lib/parameter_fields";
import type { Column } from "../../lib/playground";
import { ModelField } from "../../ui/model_field";
import { TextField } from "../../ui/text_field";
import { AgentField } from "../chats/chat_fields";
import { FormContext } from "../definitions/form/context";
import { ValueControl } from "../definitions/form/controls";

const PARAMETERS = "target.params";

interface Props {
  column: Column;
  /** If true, its system prompt is edited elsewhere. */
  isShared: boolean;
  error: unknown;
  change: (changes: Partial<Column>) => void;
}

/** Edits who answers in a column, and how. */
export function ColumnSettings({ column, isShared, error, change }: Props) {
  const { id, model, connectorId, params, system } = column;
  const isAgent = connectorId !== "";
  const fields = error instanceof ApiError ? error.fields : [];
  return (
    <>
      <ModelField
        label="Model"
        id={`model-${id}`}
        placeholder="provider/name"
        disabled={isAgent}
        note={isAgent && "The agent answers"}
        error={fields.find((each) => each.field === "target.model")?.message}
        value={model}
        change={(next) => change({ model: next })}
      />
      <AgentField id={`agent-${id}`} value={connectorId} change={(next) => change({ connectorId: next })} />
      {!isShared && (
        <TextField
          label="System prompt (optional)"
          id={`system-${id}`}
          rows={4}
          maxLength={CreateChat.system.maxLength}
          value={system}
          onChange={(next) => change({ system: next })}
        />
      )}
      <Parameters id={id} params={params} fields={fields} change={change} />
    </>
  );
}

interface ParametersProps {
  id: number;
  params: Content;
  fields: readonly Issue[];
  change: Props["change"];
}

function Parameters({ id, params, fields, change }: ParametersProps) {
  // The ids of fields are made of their paths, and those of each column are its own.
  const root = `parameters-${id}`;
  const changeAt = useCallback(
    (path: string, value: unknown) => {
      const changed = changedAt({ [root]: params }, path, value)[root];
      change({ params: isContent(changed) ? changed : {} });
    },
    [root, params, change],
  );
  const context = useMemo(() => {
    const own = fields.filter((each) => each.field.startsWith(PARAMETERS));
    const issues = own.map((each) => ({ ...each, field: root + each.field.slice(PARAMETERS.length) }));
    return { change: changeAt, issues, report: () => {} };
  }, [changeAt, fields, root]);
  return (
    <FormContext value={context}>
      <ValueControl control={CHAT_PARAMETERS} path={root} value={params} label="Parameters" />
    </FormContext>
  );
}
