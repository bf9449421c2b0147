/** The entry point `animal-store/client` is small, and uses nothing but the Web platform. */

import { resolve } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { petText } from '../adapters/api-client/fake-api.ts';

const ENTRY = resolve(import.meta.dirname, '../../src/library/client.ts');

/** In bytes, minified and compressed. */
const LIMIT = 10.5 * 1024;

async function bundle(): Promise<string> {
  const build = await rolldown({ input: ENTRY, platform: 'browser' });
  const { output } = await build.generate({
    format: 'iife',
    name: 'client',
    minify: true,
    codeSplitting: false,
  });
  await build.close();
  expect(output).toHaveLength(1);
  const [chunk] = output;
  expect(chunk.imports).toEqual([]);
  expect(chunk.moduleIds.filter((id) => !/\/src\/|rolldown\/runtime/.test(id))).toEqual([]);
  return chunk.code;
}

test('the bundle is below 10.5 KiB, and runs with only the Web platform', async () => {
  const code = await bundle();
  expect(code).not.toContain('node:');
  const size = gzipSync(code, { level: 9 }).length;
  expect(size).toBeGreaterThan(1000);
  expect(size).toBeLessThanOrEqual(LIMIT);
  const context = createContext({
    fetch: async () => new Response(`[${petText(2n ** 53n + 1n)}]`),
    URL,
    AbortController,
    TextDecoder,
    performance,
    setTimeout,
    clearTimeout,
  });
  runInContext(code, context);
  const program = `(async () => {
    const store = await client.createAnimalStore({ database: 'https://pets.example.org/v1', apiKey: 'key' });
    for await (const { id } of store.listPets()) return id;
  })()`;
  expect(await runInContext(program, context)).toBe(2n ** 53n + 1n);
});
