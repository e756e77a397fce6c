// Reads a stream of events as a browser does, until the server ends it or refuses, and prints what it received.
const [url, ...types] = process.argv.slice(2);
const received = [];
const source = new EventSource(url);
const alive = setInterval(() => {}, 1_000); // Node's EventSource does not keep the process alive between its requests.

function finish() {
  source.close();
  clearInterval(alive);
  console.log(JSON.stringify(received));
}

for (const type of types) {
  source.addEventListener(type, (event) => received.push(`${event.lastEventId} ${type}`));
}
source.addEventListener("error", () => source.readyState === EventSource.CLOSED && finish());
