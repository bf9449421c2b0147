/** Checks the responses of a server, to the last digit, before load is applied. */

import { deepStrictEqual } from 'node:assert/strict';
import { API_KEY, type Data, lastId } from './data.ts';
import type { RunningServer } from './servers.ts';

const SELECT = 'SELECT id, name, category_id AS "categoryId", status FROM pets';

/**
 * Throws if a response is wrong. Resolves with the length of the default list in bytes, and the number of created pets.
 */
export async function checkResponses(
  server: RunningServer,
  data: Data,
): Promise<{ listLength: number; created: number }> {
  const expect = async (path: string, status: number, body?: unknown, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${API_KEY}`, ...init.headers };
    const response = await fetch(server.origin + path, { ...init, headers });
    const text = await response.text();
    try {
      deepStrictEqual([response.status, exact(text)], [status, body ?? anyError(text, status)]);
    } catch (error) {
      throw new Error(`${server.name}: wrong response to ${path}: ${text.slice(0, 500)}`, { cause: error });
    }
    return text;
  };
  const headers = { 'Content-Type': 'application/json' };
  const post = (body: string) => ({ method: 'POST', body, headers });

  const list = await expect('/v1/pets', 200, await rows(data, 'ORDER BY id LIMIT 20'));
  const page = "WHERE status = 'pending' AND id > 50 ORDER BY id LIMIT 7";
  await expect('/v1/pets?limit=7&status=pending&after=50', 200, await rows(data, page));
  await expect('/v1/pets/17', 200, (await rows(data, 'WHERE id = 17'))[0]);
  await expect('/v1/pets/9223372036854775807', 404);
  await expect('/v1/pets?limit=101', 400);
  await expect('/v1/pets?status=eaten', 400);
  await expect('/v1/pets?after=x', 400);
  await expect('/v1/pets', 401, undefined, { headers: { Authorization: '' } });
  await expect('/v1/pets', 401, undefined, { headers: { Authorization: `Bearer ${API_KEY}x` } });
  await expect('/v1/pets', 400, undefined, post('{"name":"","categoryId":1}'));
  await expect('/v1/pets', 400, undefined, post('{"name":"Bello","categoryId":1.5}'));
  await expect('/v1/pets', 400, undefined, post('{"name":'));

  const id = String((await lastId(data)) + 1);
  const pet = { id, name: 'Bello "Ü"', categoryId: '9223372036854775807', status: 'available' };
  const sent = `{"name":${JSON.stringify(pet.name)},"categoryId":${pet.categoryId}}`;
  await expect('/v1/pets', 201, pet, post(sent));
  await expect(`/v1/pets/${id}`, 200, pet);
  return { listLength: Buffer.byteLength(list), created: 1 };
}

/** Parses JSON, with each number as its source text. */
function exact(text: string): unknown {
  const keepText = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? context?.source : value;
  return JSON.parse(text, keepText);
}

/** Returns the three members of an error, with any code and message. */
function anyError(text: string, status: number): unknown {
  const { code, message } = JSON.parse(text);
  return { code: String(code), message: String(message), status: String(status) };
}

async function rows(data: Data, where: string): Promise<Record<string, string>[]> {
  const found = await data.query(`${SELECT} ${where}`);
  return found.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])),
  );
}
