/** The maximum number of connections that are remembered. The oldest one is forgotten first. */
const LIMIT = 50_000;

/** Represents each connection by an object. A `Request` does not show which connection it belongs to. */
export class Connections {
  readonly #byClient = new Map<string, object>();

  get(address: string, port: number): object {
    const client = `${address} ${port}`;
    const known = this.#byClient.get(client);
    if (known !== undefined) return known;
    const [oldest] = this.#byClient.keys();
    if (oldest !== undefined && this.#byClient.size >= LIMIT) this.#byClient.delete(oldest);
    const connection = {};
    this.#byClient.set(client, connection);
    return connection;
  }
}
