import { FORMATS, type Format, setFormat, useFormat } from "./format";

const NAMES: Record<Format, string> = {
  text: "text",
  markdown: "Markdown",
  raw: "raw, with white space",
  json: "JSON",
};

export function FormatChoice() {
  return (
    <label>
      Messages as{" "}
      <select value={useFormat()} onChange={(event) => setFormat(event.target.value as Format)}>
        {FORMATS.map((each) => (
          <option key={each} value={each}>
            {NAMES[each]}
          </option>
        ))}
      </select>
    </label>
  );
}
