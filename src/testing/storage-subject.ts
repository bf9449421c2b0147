import type { Storage } from '../application/ports/storage.ts';
import type { Opened, Subject } from './contract.ts';

/** The storage under test: the functions with which the tests open it. */
export interface StorageSubject extends Subject<Storage> {
  /** Opens a backup file as a storage. An adapter that does not support backups leaves out this function. */
  readonly openBackup?: ((file: string) => Promise<Opened<Storage>>) | undefined;
}
