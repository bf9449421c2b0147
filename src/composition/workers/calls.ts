import type { MessagePort, Transferable } from 'node:worker_threads';

/** The functions that the other thread can call, by name. */
export type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

/** A port to another thread, or the thread itself. */
interface Port {
  postMessage(message: Call | Result, transfer?: readonly Transferable[]): void;
  on(event: 'message', listener: (message: Call | Result) => void): unknown;
}

/** The id is set if the caller waits for the result. */
interface Call {
  readonly name: string;
  readonly argument: unknown;
  readonly id?: number;
}

/** Of an error, only these members are sent: others cannot be, or are not restored. */
interface Result {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly code: unknown; readonly reason: unknown };
}

/** Calls functions of another thread, and lets the other thread call functions of this one. */
export class Calls {
  readonly #port: Port;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  #ended: Error | undefined;

  constructor(port: Port | MessagePort, handlers: Handlers) {
    this.#port = port as Port;
    this.#port.on('message', (message) => {
      if ('name' in message) void this.#answer(message, handlers);
      else this.#settle(message);
    });
  }

  /** Resolves with the result of a function of the other thread. Rejects with its error, or when {@link end} is called. */
  call<T>(name: string, argument?: unknown): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    this.#lastId += 1;
    const result = Promise.withResolvers<unknown>();
    this.#pending.set(this.#lastId, result);
    this.#port.postMessage({ name, argument, id: this.#lastId });
    return result.promise as Promise<T>;
  }

  /** Calls a function of the other thread without waiting for a result. */
  send(name: string, argument: unknown, transfer: readonly Transferable[] = []): void {
    this.#port.postMessage({ name, argument }, transfer);
  }

  /** Rejects the calls without a result, and all further ones, because the other thread has exited. */
  end(error: Error): void {
    this.#ended = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  async #answer({ name, argument, id }: Call, handlers: Handlers): Promise<void> {
    const handle = handlers[name] as (argument: unknown) => unknown;
    if (id === undefined) return void handle(argument);
    try {
      this.#port.postMessage({ id, result: await handle(argument) });
    } catch (error) {
      const { message, code, reason } = error as NonNullable<Result['error']>;
      this.#port.postMessage({ id, error: { message, code, reason } });
    }
  }

  #settle({ id, result, error }: Result): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(Object.assign(new Error(error.message), error));
  }
}
