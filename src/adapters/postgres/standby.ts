import type { ClientBase } from 'pg';
import { StorageFault } from '../../application/ports/storage-fault.ts';

/**
 * The function of PostgreSQL in which a commit waits for a synchronous standby. After a cancelled wait, the commit
 * succeeds with a warning from this function. The text of the warning depends on the language of the server, and its
 * code is the code of all warnings.
 */
const WAIT = 'SyncRepWaitForLSN';

const unconfirmed = new WeakSet<ClientBase>();

/** Watches a connection for commits that a synchronous standby did not confirm. */
export function watchCommits(client: ClientBase): void {
  client.on('notice', ({ routine }) => {
    if (routine === WAIT) unconfirmed.add(client);
  });
}

/** Throws when a commit on the connection succeeded that a synchronous standby did not confirm. */
export function assertConfirmed(client: ClientBase): void {
  if (unconfirmed.has(client)) {
    throw new StorageFault('not_responding', 'no standby server has confirmed the commit');
  }
}
