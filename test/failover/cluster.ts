/** Three PostgreSQL servers under Patroni, with etcd and HAProxy, on the loopback interface. */

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { until } from '../support/clock.ts';
import { freePort } from '../support/free-port.ts';
import { signal } from '../support/postgres/server.ts';
import { PATH, postgresPrograms } from './packages.ts';
import { commandLineOf, ProcessFolder, signalAll } from './processes.ts';
import { haproxyConfiguration, type Node, patroniConfiguration } from './settings.ts';

const NAMES = ['node-1', 'node-2', 'node-3'];

/** How often the state of the cluster is read, in milliseconds. */
const INTERVAL = 200;

/** The node with the lock and two servers that replicate from it, one of them synchronously. */
const REPLICATION = `SELECT count(*) = 2 AND bool_or(sync_state IN ('sync', 'quorum')) AS ok
  FROM pg_stat_replication WHERE state = 'streaming' AND NOT pg_is_in_recovery()`;

export class Cluster {
  /** The URL of the database, through HAProxy. */
  readonly url: string;
  readonly #processes: ProcessFolder;
  readonly #nodes: readonly Node[];

  private constructor(processes: ProcessFolder, nodes: readonly Node[], port: number) {
    this.url = databaseUrl(port);
    this.#processes = processes;
    this.#nodes = nodes;
  }

  /** Starts all processes. Resolves when all nodes replicate. */
  static async start(): Promise<Cluster> {
    const processes = new ProcessFolder();
    const ports = await freePorts(3 + 2 * NAMES.length);
    const [etcdPort, peerPort, port] = [take(ports), take(ports), take(ports)];
    const nodes = NAMES.map((name): Node => {
      const folder = processes.newFolder(name);
      return { name, folder, port: take(ports), apiPort: take(ports) };
    });
    for (const node of nodes) {
      writeFileSync(configurationOf(node), patroniConfiguration(node, etcdPort, postgresPrograms() ?? ''));
    }
    const cluster = new Cluster(processes, nodes, port);
    try {
      cluster.#startEtcd(etcdPort, peerPort);
      for (const node of nodes) cluster.restart(node);
      cluster.#startHaproxy(port);
      await cluster.untilHealthy();
    } catch (error) {
      console.error(cluster.logs());
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  /** Creates a folder in the folder of the cluster. When the cluster ends, processes in this folder end too. */
  newFolder(name: string): string {
    return this.#processes.newFolder(name);
  }

  /** Returns the node that accepts writes. Throws if there is none. */
  async leader(): Promise<Node> {
    for (const node of this.#nodes) if (await isPrimary(node)) return node;
    throw new Error('no node is the primary');
  }

  /** Resolves when another node accepts writes. */
  async untilLeaderIsNot(former: Node): Promise<void> {
    const isOther = ({ name }: Node) => name !== former.name;
    await until(() => this.leader().then(isOther, () => false), INTERVAL);
  }

  /** Resolves when HAProxy leads to the leader, and the two others replicate from it, one of them synchronously. */
  async untilHealthy(): Promise<void> {
    const isOk = ([row]: readonly { readonly ok: boolean }[]) => row?.ok === true;
    await until(() => query<{ ok: boolean }>(this.url, REPLICATION).then(isOk, () => false), INTERVAL);
  }

  /** Pauses the processes of a node that send changes to the other nodes. The node accepts statements as before. */
  pauseReplication({ folder }: Node): void {
    signalAll(folder, 'SIGSTOP', isSender);
  }

  resumeReplication({ folder }: Node): void {
    signalAll(folder, 'SIGCONT', isSender);
  }

  /** Ends Patroni, PostgreSQL and all other processes of a node. */
  crash(node: Node): void {
    signalAll(node.folder, 'SIGKILL');
  }

  /** Starts Patroni, which starts PostgreSQL. */
  restart(node: Node): void {
    this.#processes.run(node.folder, 'patroni', [configurationOf(node)]);
  }

  /** Ends the main process of PostgreSQL. Its child processes end when they notice it. */
  crashPostgres({ folder }: Node): void {
    const [pid] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
    signal(Number(pid), 'SIGKILL');
  }

  /** Makes another node the leader. */
  async switchOver(leader: Node): Promise<void> {
    const args = ['-c', configurationOf(leader), 'switchover', 'pets', '--force'];
    await promisify(execFile)('patronictl', args, { env: { PATH, LC_ALL: 'C.UTF-8', HOME: leader.folder } });
  }

  /** Creates another database. Resolves with its URL, through HAProxy. */
  async createDatabase(name: string): Promise<string> {
    await this.query(`CREATE DATABASE ${name}`);
    return new URL(name, this.url).href;
  }

  /** Runs a query on the leader, without HAProxy. */
  async query<Row extends object>(text: string): Promise<Row[]> {
    return query<Row>(databaseUrl((await this.leader()).port), text);
  }

  /** The last lines of the log of each node. */
  logs(): string {
    return this.#nodes
      .map(({ name, folder }) => `${name}: ${readFileSync(join(folder, 'log'), 'utf8').slice(-6000)}`)
      .join('\n');
  }

  /** Ends all processes, and removes their files. */
  close(): Promise<void> {
    return this.#processes.close();
  }

  #startEtcd(port: number, peerPort: number): void {
    const folder = this.#processes.newFolder('etcd');
    const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
    const options = {
      'data-dir': join(folder, 'data'),
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': peerUrl,
      'initial-advertise-peer-urls': peerUrl,
      'initial-cluster': `default=${peerUrl}`,
    };
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    this.#processes.run(folder, 'etcd', args);
  }

  #startHaproxy(port: number): void {
    const folder = this.#processes.newFolder('haproxy');
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, haproxyConfiguration(port, this.#nodes));
    this.#processes.run(folder, 'haproxy', ['-db', '-f', file]);
  }
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

function take(ports: number[]): number {
  return ports.pop() as number;
}

function isSender(pid: number): boolean {
  return commandLineOf(pid).includes('walsender');
}

function configurationOf({ folder }: Node): string {
  return join(folder, 'patroni.yml');
}

function databaseUrl(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

/** Only the node that has the lock of the leader, and whose PostgreSQL accepts writes, responds with 200. */
async function isPrimary({ apiPort }: Node): Promise<boolean> {
  return fetch(`http://127.0.0.1:${apiPort}/primary`, { signal: AbortSignal.timeout(2000) }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function query<Row extends object>(connectionString: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2000, query_timeout: 30_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
