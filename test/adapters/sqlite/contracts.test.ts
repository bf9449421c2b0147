import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { Opened } from '../../../src/testing/index.ts';
import { testContracts } from '../../support/contracts.ts';
import { temporaryFile } from './temporary-file.ts';

testContracts('on SQLite', <Port>(portOf: (storage: Storage) => Port) => {
  const paths = new WeakMap<Opened<Port>, string>();
  const openAt = async (path: string): Promise<Opened<Port>> => {
    const storage = openSqliteStorage(path);
    const opened = { port: portOf(storage), close: () => storage.close() };
    paths.set(opened, path);
    return opened;
  };
  const openAgain = (opened: Opened<Port>) => openAt(paths.get(opened) ?? '');
  return {
    open: () => openAt(temporaryFile()),
    reopen: openAgain,
    openSecond: openAgain,
    openBackup: (path: string) => openSqlite(path),
  };
});

async function openSqlite(path: string): Promise<Opened<Storage>> {
  const storage = openSqliteStorage(path);
  return { port: storage, close: () => storage.close() };
}
