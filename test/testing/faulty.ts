/** Storages with faults, for the tests of the contract suites. */

import { expect } from 'vitest';
import type { Storage } from '../../src/application/ports/storage.ts';

export type Fault = (storage: Storage) => Partial<Storage>;

// biome-ignore lint/suspicious/noExplicitAny: a method of any port
type Method = (...args: any[]) => any;
export type Replace = (method: Method, storage: Storage) => Method;

/** Replaces methods, such as `pets.add`. The new ones can call the old ones. `replacements` is called for each client. */
export function withMethods(replacements: () => Readonly<Record<string, Replace>>): Fault {
  return (storage) => {
    const changed: Partial<Record<keyof Storage, unknown>> = { ...storage };
    for (const [name, replace] of Object.entries(replacements())) {
      const [part, replaced] = name.split('.') as [keyof Storage, string];
      const port = changed[part] as Readonly<Record<string | symbol, Method>>;
      const methodOf = (key: string | symbol): Method => port[key]?.bind(port) ?? expect.fail(name);
      const method = replace(methodOf(replaced), storage);
      changed[part] = new Proxy(port, { get: (_, key) => (key === replaced ? method : methodOf(key)) });
    }
    return changed as Storage;
  };
}

/** Replaces one method. */
export const withMethod = (name: string, replace: Replace): Fault => withMethods(() => ({ [name]: replace }));

/** Changes what one method resolves with. `change` gets the result and the arguments of the call. */
export const withResult = (name: string, change: Method): Fault => withMethod(name, changing(change));

export const changing = (change: Method): Replace => {
  return (method) =>
    async (...args) =>
      change(await method(...args), ...args);
};

/** Runs an action before each call. */
export const preceding = (action: Method): Replace => {
  return (method) =>
    async (...args) => {
      action(...args);
      return await method(...args);
    };
};
