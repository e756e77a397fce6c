import { parseTargets } from "../lib/targets";
import { TextField } from "./text_field";

interface Props {
  value: string;
  change: (text: string) => void;
  error: string | undefined;
}

export function TargetsField({ value, change, error }: Props) {
  return (
    <TextField
      label="Targets"
      id="targets"
      maxLength={20_000}
      note="As provider/name or connector/<id>, separated by commas"
      error={parseTargets(value) ? error : "Name at least one target"}
      value={value}
      onChange={change}
    />
  );
}
