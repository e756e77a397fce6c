import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useModels } from "../../api/models";
import type { Schemas } from "../../api/types";

import { formatUsd, visible } from "../../lib/format";
import { unlistedModels } from "../../lib/model_choice";
import page from "../../ui/page.module.css";
import styles from "./new_run.module.css";

interface Props {
  models: readonly Schemas["Model"][];
  selected: readonly string[];
  select: (ids: readonly string[]) => void;
}

export function Models({ models, selected, select }: Props) {
  const { servers } = useModels();
  const [sought, seek] = useState("");
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  // Models that were chosen at first are on top; nothing moves afterwards.
  const [first] = useState(selected);
  const shown = models
    .filter((each) => words.every((word) => each.id.toLowerCase().includes(word)))
    .sort((one, other) => Number(first.includes(other.id)) - Number(first.includes(one.id)));
  const listed = models.map((each) => each.id);
  const unlisted = unlistedModels(listed, selected, sought);
  const toggle = (id: string) =>
    select(selected.includes(id) ? selected.filter((each) => each !== id) : [...selected, id]);
  return (
    <fieldset className={styles.models}>
      <legend>Models: {selected.length} chosen</legend>
      <input
        type="search"
        aria-label="Search models"
        placeholder="Search models"
        value={sought}
        onChange={(event) => seek(event.target.value)}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={styles.options} aria-label="Models" tabIndex={0}>
        {unlisted.map((id) => (
          <label key={id}>
            <input type="checkbox" checked={selected.includes(id)} onChange={() => toggle(id)} />
            <span className={styles.modelName}>{visible(id)}</span>
            <small>as typed</small>
          </label>
        ))}
        {shown.map((model) => (
          <label key={model.id}>
            <input type="checkbox" checked={selected.includes(model.id)} onChange={() => toggle(model.id)} />
            <span className={styles.modelName}>{visible(model.id)}</span>
            <small>{price(model)}</small>
          </label>
        ))}
        {shown.length + unlisted.length === 0 && (
          <p>No listed model matches. To use another one, enter provider/model.</p>
        )}
      </section>
      <small className={styles.note}>
        Models of providers without an API key are not listed: set one under{" "}
        <Link to="/providers">Providers</Link>. Other models can be typed into the search, such as
        custom/my-model. Models of sim are simulated and free.
        {servers.map(
          ({ provider, problem }) =>
            problem !== null && (
              <span key={provider} className={page.line}>
                The models of {visible(provider)} are not listed: {visible(problem)}.
              </span>
            ),
        )}
      </small>
    </fieldset>
  );
}

function price(model: Schemas["Model"]): string {
  if (model.inputUsdPerMillion === null || model.outputUsdPerMillion === null)
    return model.simulated ? "simulated, free" : "price unknown";
  if (model.inputUsdPerMillion === 0 && model.outputUsdPerMillion === 0) return "free";
  return `${formatUsd(model.inputUsdPerMillion)} in, ${formatUsd(model.outputUsdPerMillion)} out per million tokens`;
}
