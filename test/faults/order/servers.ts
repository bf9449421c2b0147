/** Servers that share a store, and are killed and started again. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts'; // only PostgreSQL
import { temporaryFolder } from '../../support/process.ts';
import { FaultsServer } from '../server.ts';

/** Two servers that share a store. */
export interface Setting {
  readonly name: string;
  readonly databaseUrl: (folder: string) => string | Promise<string>;
  readonly canRun?: boolean;
}

const sqlite = (folder: string) => `sqlite:${join(folder, 'pets.db')}`;

export const SETTINGS: readonly Setting[] = [
  { name: 'two servers on one SQLite file', databaseUrl: sqlite },
  // only PostgreSQL: from here
  {
    name: `two servers on PostgreSQL${postgresNote}`,
    databaseUrl: newDatabaseUrl,
    canRun: canRunPostgres,
  },
  // only PostgreSQL: to here
];

/** The progress of the clients between two kills. */
const PROGRESS_PER_KILL = 150;

export class MortalServers {
  readonly databaseUrl: string;
  readonly ports: readonly number[];
  kills = 0;
  readonly #servers: FaultsServer[];

  private constructor(databaseUrl: string, servers: FaultsServer[]) {
    this.databaseUrl = databaseUrl;
    this.#servers = servers;
    this.ports = servers.map(({ port }) => port);
  }

  static async start(setting: Setting): Promise<MortalServers> {
    const folder = temporaryFolder();
    const databaseUrl = await setting.databaseUrl(folder);
    const start = () => FaultsServer.start({ folder, env: { DATABASE_URL: databaseUrl } });
    return new MortalServers(databaseUrl, [await start(), await start()]);
  }

  /** Kills one server after the other, each time that `progress` has grown, and starts another one at its port. */
  async killAll(progress: () => number, signal: AbortSignal): Promise<void> {
    for (let next = PROGRESS_PER_KILL; !signal.aborted; await sleep(10)) {
      if (progress() < next) continue;
      const at = this.kills++ % this.#servers.length;
      const { folder, port } = this.#servers[at] as FaultsServer;
      await this.#servers[at]?.kill();
      this.#servers[at] = await FaultsServer.start({ folder, port, env: { DATABASE_URL: this.databaseUrl } });
      next = progress() + PROGRESS_PER_KILL;
    }
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) await server.stop();
  }
}
