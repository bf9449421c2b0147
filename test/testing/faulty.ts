/** Storages with faults, for the tests of the contract suites. */

import { expect } from 'vitest';
import type { Storage } from '../../src/application/ports/storage.ts';

export type Fault = (storage: Storage) => Partial<Storage>;

// biome-ignore lint/suspicious/noExplicitAny: a method of any port
type Method = (...args: any[]) => any;

/** Replaces a method, such as `pets.add`. The new one can call the old one. */
export function withMethod(name: string, replace: (method: Method, storage: Storage) => Method): Fault {
  return (storage) => {
    const [part, replaced] = name.split('.') as [keyof Storage, string];
    const port = storage[part] as never as Readonly<Record<string | symbol, Method>>;
    const methodOf = (key: string | symbol): Method => port[key]?.bind(port) ?? expect.fail(name);
    const method = replace(methodOf(replaced), storage);
    return { [part]: new Proxy(port, { get: (_, key) => (key === replaced ? method : methodOf(key)) }) };
  };
}
