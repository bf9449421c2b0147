import { pino } from 'pino';
import { expect, test } from 'vitest';
import { StorageFault } from '../../src/application/storage-fault.ts';
import { storageLog } from '../../src/composition/log.ts';

test('a change of state is one line, with the reason and the detail', () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) });
  const onStateChange = storageLog(log);
  onStateChange(new StorageFault('disk_full', 'the disk is full', { cause: '/data/pets.db: ENOSPC' }));
  onStateChange(undefined);
  expect(lines).toEqual([
    {
      level: 50,
      reason: 'disk_full',
      detail: '/data/pets.db: ENOSPC',
      msg: 'the storage is unavailable: the disk is full',
    },
    { level: 30, msg: 'the storage is available again' },
  ]);
});
