// An import loads only its own files, adds no global and no handler, and reads no environment variable.
import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';

const loaded = [];
const read = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
process.env = new Proxy(process.env, {
  get(environment, name) {
    if (name !== 'WATCH_REPORT_DEPENDENCIES') read.push(name); // Node.js itself reads it, for every module
    return environment[name];
  },
});
const handlers = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
// Node.js adds these symbols itself when a module uses Response, as Koa does.
const globals = () => Reflect.ownKeys(globalThis).filter((key) => !String(key).startsWith('Symbol(undici.'));
const before = [globals(), handlers()];

const { createAnimalStore } = await import('animal-store');
const folder = new URL('../', import.meta.resolve('animal-store')).href;
const own = (parts) =>
  loaded.every((url) =>
    parts.some(
      (part) =>
        url.startsWith(folder + part) || url.startsWith(part) || url.includes(`/node_modules/${part}`),
    ),
  );
assert.ok(loaded.length > 5);
// On Node.js, the URL of a database is checked before its adapter is loaded.
const CHECK_OF_URLS = ['adapters/postgres/url/', 'pg-connection-string/', 'node:path', 'node:os'];
const CORE = ['library/', 'composition/databases/', 'domain/', 'application/', ...CHECK_OF_URLS];
assert.ok(own(CORE), loaded.join('\n'));

await import('animal-store/memory');
await createAnimalStore({ database: 'memory:' });
assert.ok(own([...CORE, 'adapters/memory/', 'adapters/storage-kit/']), loaded.join('\n'));

await import('animal-store/testing');
await createAnimalStore({ database: 'sqlite:./no-side-effects.db' });
assert.ok(!loaded.some((url) => /koa|reflect-metadata|tsyringe|pino/.test(url)), loaded.join('\n'));
assert.deepEqual([globals(), handlers()], before);
assert.deepEqual(read, []);

await import('animal-store/fetch');
assert.ok(!loaded.some((url) => /reflect-metadata|tsyringe|pino|commander/.test(url)), loaded.join('\n'));

await import('animal-store/http');
assert.ok(!loaded.some((url) => /reflect-metadata|tsyringe|pino|commander/.test(url)), loaded.join('\n'));
assert.deepEqual([globals(), handlers()], before);
console.log('done');
