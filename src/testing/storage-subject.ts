import type { Storage } from '../application/ports/storage.ts';
import type { Opened, Subject } from './contract.ts';

/** The functions with which the suite opens the storage. */
export interface StorageSubject extends Subject<Storage> {
  /** Opens a backup file as a storage. This function is left out when the storage does not support backups. */
  readonly openBackup?: ((file: string) => Promise<Opened<Storage>>) | undefined;
}
