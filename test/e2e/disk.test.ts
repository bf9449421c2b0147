import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Answer } from '../support/client.ts';
import { OPERATOR_KEY, runBin, startService, stopService, temporaryFolder } from '../support/process.ts';

/** A small file system of its own needs the right to mount one. */
const canMount = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  const isMounted = mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder);
  if (isMounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return isMounted;
})();
const reason = canMount ? '' : ' (skipped: this user may not mount a file system)';

function mount(...args: string[]): boolean {
  return spawnSync('mount', args).status === 0;
}

function smallDisk(size: string): string {
  const folder = temporaryFolder();
  expect(mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder)).toBe(true);
  onTestFinished(() => {
    spawnSync('umount', ['--lazy', folder]);
  });
  return folder;
}

const env = { API_KEYS: OPERATOR_KEY, DATABASE_URL: 'sqlite:pets.db' };

describe('the disk', { timeout: 60_000 }, () => {
  test.skipIf(!canMount)(
    `that is full is 503, loses nothing, and still serves what it has${reason}`,
    async () => {
      const cwd = smallDisk('1m');
      const service = await startService({ cwd, env });
      const stored: string[] = [];
      let refused: Answer | undefined;
      for (let count = 0; refused === undefined && count < 20_000; count += 1) {
        const answer = await service.client.post({ name: 'x'.repeat(255), categoryId: count });
        if (answer.status === 201) stored.push(answer.body);
        else refused = answer;
      }
      expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      expect(JSON.parse(refused?.body ?? '').code).toBe('storage_unavailable');
      expect(stored.length).toBeGreaterThan(20);
      expect((await service.client.get('/v1/pets?limit=1')).body).toBe(`[${stored[0]}]`);
      await stopService(service);

      expect(mount('-o', 'remount,size=8m', cwd)).toBe(true);
      const again = await startService({ cwd, env });
      const listed: string[] = [];
      for (let target: string | undefined = '/v1/pets?limit=100'; target !== undefined; ) {
        const { body, headers } = await again.client.get(target);
        listed.push(body.slice(1, -1));
        target = /^<(.*)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
      }
      expect(listed.join(',')).toBe(stored.join(','));
      expect((await again.client.post({ name: 'Rex', categoryId: 1 })).status).toBe(201);
      await stopService(again);
    },
  );

  test.skipIf(!canMount)(`that is read-only is told at the start, in one line${reason}`, async () => {
    const cwd = smallDisk('8m');
    const first = await startService({ cwd, env });
    await first.client.post({ name: 'Rex', categoryId: 1 });
    await stopService(first);
    expect(mount('-o', 'remount,ro', cwd)).toBe(true);
    const { out, exit } = runBin(['serve'], { cwd, env });
    expect(await exit).toEqual({ code: 1, signal: null });
    expect(out.stderr).toMatch(/^animal-store: .*pets\.db.*\n$/);
    expect(out.stdout).toBe('');
  });
});
