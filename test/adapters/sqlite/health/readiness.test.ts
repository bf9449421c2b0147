import { expect, onTestFinished, test, vi } from 'vitest';
import { Writer } from '../../../../src/adapters/sqlite/write/writer.ts';
import { openHealth } from '../temporary-file.ts';

test('the storage is tested every half second at most, and a check leaves no timer', async () => {
  const health = openHealth();
  const writer = new Writer(health, () => {});
  const probe = vi.spyOn(writer, 'probe').mockResolvedValue();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  for (const [milliseconds, probes] of [
    [0, 1],
    [0, 1],
    [499, 1],
    [1, 2],
    [499, 2],
  ] as const) {
    vi.advanceTimersByTime(milliseconds);
    await health.check(() => writer.probe());
    expect(probe).toHaveBeenCalledTimes(probes);
    expect(vi.getTimerCount()).toBe(0);
  }
});
