import { parseTargets } from "../lib/targets";
import { type Issue, JsonField } from "./json_field";
import { TextField } from "./text_field";

interface Props {
  value: string;
  isJson: boolean;
  change: (text: string) => void;
  issues: readonly Issue[];
}

/** Targets by name; as JSON if they have labels or parameters. */
export function TargetsField({ value, isJson, change, issues }: Props) {
  if (isJson)
    return (
      <JsonField
        label="Targets, as JSON"
        id="targets"
        rows={10}
        path="targets"
        note="docs/targets.md describes the fields"
        value={value}
        issues={issues}
        onChange={change}
      />
    );
  return (
    <TextField
      label="Targets"
      id="targets"
      maxLength={20_000}
      note="As provider/name or connector/<id>, separated by commas"
      error={parseTargets(value, false) ? issues[0]?.message : "Name at least one target"}
      value={value}
      onChange={change}
    />
  );
}
