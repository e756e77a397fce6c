/** Reads server-sent events of a complete answer: https://html.spec.whatwg.org/multipage/server-sent-events.html */

export interface StreamedEvent {
  readonly type: string;
  readonly data: string;
}

export function parseEventStream(text: string): StreamedEvent[] {
  const events: StreamedEvent[] = [];
  let type = "";
  let data: string[] = [];
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)) {
    if (line === "") {
      if (data.length > 0) events.push({ type: type || "message", data: data.join("\n") });
      type = "";
      data = [];
      continue;
    }
    const [name, value] = fieldOf(line);
    if (name === "event") type = value;
    else if (name === "data") data.push(value);
  }
  return events;
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(" ") ? value.slice(1) : value];
}
