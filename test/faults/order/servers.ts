/** Servers that share a store, and are killed and started again. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/free-port.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';
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
  {
    name: `two servers on PostgreSQL${postgresNote}`,
    databaseUrl: newDatabaseUrl,
    canRun: canRunPostgres,
  },
];

/** The progress of the clients between two kills. */
const PROGRESS_PER_KILL = 150;

/** A server that is killed and started again at the same port. */
class MortalServer {
  readonly port: number;
  readonly #start: () => Promise<FaultsServer>;
  #server: FaultsServer;

  private constructor(server: FaultsServer, start: () => Promise<FaultsServer>) {
    this.#server = server;
    this.port = server.port;
    this.#start = start;
  }

  static async start(folder: string, env: Readonly<Record<string, string>>): Promise<MortalServer> {
    const port = await freePort();
    const start = () => FaultsServer.start({ folder, port, env });
    return new MortalServer(await start(), start);
  }

  async killAndRestart(): Promise<void> {
    await this.#server.kill();
    this.#server = await this.#start();
  }

  stop(): Promise<unknown> {
    return this.#server.stop();
  }
}

export class MortalServers {
  readonly databaseUrl: string;
  kills = 0;
  readonly #servers: readonly MortalServer[];

  private constructor(databaseUrl: string, servers: readonly MortalServer[]) {
    this.databaseUrl = databaseUrl;
    this.#servers = servers;
  }

  static async start(setting: Setting): Promise<MortalServers> {
    const folder = temporaryFolder();
    const databaseUrl = await setting.databaseUrl(folder);
    const env = { DATABASE_URL: databaseUrl };
    const servers: MortalServer[] = [];
    for (let index = 0; index < 2; index += 1) servers.push(await MortalServer.start(folder, env));
    return new MortalServers(databaseUrl, servers);
  }

  get ports(): number[] {
    return this.#servers.map(({ port }) => port);
  }

  /** Kills one server after the other, each time that `progress` has grown. */
  async killAll(progress: () => number, signal: AbortSignal): Promise<void> {
    for (let next = PROGRESS_PER_KILL; !signal.aborted; await sleep(10)) {
      if (progress() < next) continue;
      await this.#servers[this.kills % this.#servers.length]?.killAndRestart();
      this.kills += 1;
      next = progress() + PROGRESS_PER_KILL;
    }
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) await server.stop();
  }
}
