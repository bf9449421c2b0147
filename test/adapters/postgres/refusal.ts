import { expect } from 'vitest';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';

/** Expects an attempt to open a storage to fail. Returns the message, which has one line and no password. */
export async function refusalOf(url: string, mustExist = false): Promise<string> {
  const error = await openPostgresStorage(url, { mustExist }).then(
    async (storage) => {
      await storage.close();
      throw new Error('the storage was opened');
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AnimalStoreError);
  expect(error).toMatchObject({ code: 'storage_unavailable' });
  const { message } = error as Error;
  const diagnosis = await examinePostgresStore(url).catch((reason: Error) => reason.message);
  const problems = typeof diagnosis === 'string' ? [{ message: diagnosis }] : diagnosis.problems;
  const [, password] = /:([^:/@]+)@/.exec(url) ?? [];
  for (const text of [message, ...problems.map((problem) => problem.message)]) {
    expect(text).not.toMatch(/\n|: $/);
    if (password !== undefined) expect(text).not.toContain(password);
  }
  return message;
}
