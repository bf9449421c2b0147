/** Storages in processes of their own, which a test kills and stops. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '../../src/application/ports/storage.ts';
import { AnimalStoreError, type ErrorCode } from '../../src/domain/errors.ts';
import { atEnd } from '../support/process.ts';

type Port = 'pets' | 'changes' | 'idempotentChanges' | 'idempotentCreates';

export interface PortCall {
  readonly number: number;
  readonly port: Port;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** The first reply says that the storage is open. */
export interface PortReply {
  readonly number: number;
  readonly result?: unknown;
  readonly code?: ErrorCode;
  readonly message?: string;
}

/** A process that is started again after each kill. Its calls in flight then have an unknown outcome; later ones wait. */
export class PortProcess {
  readonly #url: string;
  #child!: ChildProcess;
  #isReady: Promise<void>;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #calls = 0;

  constructor(url: string) {
    this.#url = url;
    this.#isReady = this.#start();
    atEnd(() => this.kill());
  }

  /** The number of calls so far. */
  get calls(): number {
    return this.#calls;
  }

  /** A port that calls the storage of the process. */
  port<P extends Port>(port: P): Storage[P] {
    const get =
      (_: object, method: string) =>
      (...args: readonly unknown[]) =>
        this.#call(port, method, args);
    return new Proxy({}, { get }) as Storage[P];
  }

  async kill(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  async killAndStartAgain(): Promise<void> {
    await this.kill();
    this.#isReady = this.#start();
    await this.#isReady;
  }

  async pause(milliseconds: number): Promise<void> {
    this.#child.kill('SIGSTOP');
    await sleep(milliseconds);
    this.#child.kill('SIGCONT');
  }

  async #start(): Promise<void> {
    const child = fork(join(import.meta.dirname, 'port-process.ts'), [this.#url], {
      execArgv: [],
      serialization: 'advanced',
    });
    this.#child = child;
    const isOpen = Promise.withResolvers<void>();
    child.on('message', ({ number, result, code, message }: PortReply) => {
      if (number === 0) return isOpen.resolve();
      const call = this.#pending.get(number);
      this.#pending.delete(number);
      if (code === undefined) call?.resolve(result);
      else call?.reject(new AnimalStoreError(code, message ?? code));
    });
    child.once('exit', () => {
      const killed = new AnimalStoreError('storage_unavailable', 'the process was killed');
      isOpen.reject(killed);
      for (const { reject } of this.#pending.values()) reject(killed);
      this.#pending.clear();
    });
    await isOpen.promise;
  }

  async #call(port: Port, method: string, args: readonly unknown[]): Promise<unknown> {
    await this.#isReady;
    this.#calls += 1;
    const call = Promise.withResolvers<unknown>();
    const number = this.#calls;
    this.#pending.set(number, call);
    this.#child.send({ number, port, method, args } satisfies PortCall, (error) => {
      if (error) call.reject(new AnimalStoreError('storage_unavailable', 'the process was killed'));
    });
    return await call.promise;
  }
}
