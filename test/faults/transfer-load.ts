/** Clients that create pets while a test runs commands on the same store. */

export interface Load {
  /** The ids of the created pets. */
  readonly acknowledged: readonly number[];
  /** The other responses. */
  readonly refused: readonly string[];
  /** Resolves when the last requests have a response. */
  readonly stop: () => Promise<void>;
}

/** Starts clients, each of which sends the next request when it has received the last response. */
export function createUnderLoad(origin: string, key: string, clients: number): Load {
  const acknowledged: number[] = [];
  const refused: string[] = [];
  let goesOn = true;
  const write = async () => {
    while (goesOn) {
      const response = await fetch(`${origin}/v1/pets`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: '{"name":"Rex","categoryId":1}',
      });
      const body = await response.text();
      if (response.status === 201) acknowledged.push(JSON.parse(body).id);
      else refused.push(`${response.status} ${body}`);
    }
  };
  const writing = Array.from({ length: clients }, write);
  const stop = async () => {
    goesOn = false;
    await Promise.all(writing);
  };
  return { acknowledged, refused, stop };
}
