import { useQuery } from "@tanstack/react-query";
import { profileNamesQuery } from "../api/profiles";
import { visible } from "../lib/format";
import { Field } from "./field";

interface Props {
  /** It is the id of the profile; empty for none. */
  value: string;
  change: (id: string) => void;
  id?: string;
  label?: string;
  error?: string | undefined;
}

/** Chooses one of the workspace's operation profiles. */
export function ProfileField({ value, change, id = "profile", label = "Operation profile", error }: Props) {
  const profiles = useQuery(profileNamesQuery);
  const isKnown = profiles.data?.some((each) => each.id === value);
  return (
    <Field label={label} id={id} error={error} note="What runs before and after each call of the model">
      <select
        id={id}
        value={value}
        aria-describedby={error ? `${id}-error` : undefined}
        onChange={(event) => change(event.target.value)}
      >
        <option value="">none</option>
        {value !== "" && !isKnown && <option value={value}>{visible(value)}</option>}
        {profiles.data?.map((each) => (
          <option key={each.id} value={each.id}>
            {visible(each.name)}
            {!each.enabled && " (not in use)"}
          </option>
        ))}
      </select>
    </Field>
  );
}
