/** The continuous copy of a store with Litestream, as `docs/deploy.md` describes it, with the files of `deploy`. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { lines, Workspace } from '../e2e/workspace.ts';
import {
  OPERATOR_KEY,
  type RunningProcess,
  runCommand,
  type Service,
  stopService,
} from '../support/process.ts';
import { DEPLOY, hasLitestream, LITESTREAM, settings, unitText, wordsOf } from './unit.ts';

const NOTE = hasLitestream ? '' : ' (skipped: Litestream is not installed)';

/** The name of the store in the unit of the server. */
const STORE = 'animal-store.db';

/** The time after which a write is in the replica, in milliseconds. The interval of `deploy/litestream.yml` is 1 s. */
const REPLICATION = 3000;

/** Rarely, the latest copy is damaged. Then a copy of this time before the crash is tried, in milliseconds, or an earlier one. */
const BEFORE_CRASH = 2000;
const TRIES = 3;

interface Created {
  readonly id: number;
  readonly name: string;
  readonly at: number;
}

/** A folder with the store of a server, with the replica of Litestream, and with its configuration. */
class Machine {
  readonly work = new Workspace();
  readonly store: string = this.work.path(`store/${STORE}`);
  readonly #config: string = this.work.path('litestream.yml');
  readonly #environment = { DATABASE_URL: `sqlite:${this.store}`, API_KEYS: OPERATOR_KEY };

  constructor() {
    const text = readFileSync(join(DEPLOY, 'litestream.yml'), 'utf8');
    expect(text).toContain(`/var/lib/animal-store/${STORE}`);
    const local = text
      .replaceAll(`/var/lib/animal-store/${STORE}`, this.store)
      .replaceAll('/var/lib/animal-store-litestream', this.work.path('copy'));
    expect(local).not.toContain('/var/lib');
    writeFileSync(this.#config, local);
    mkdirSync(this.work.path('copy'));
    mkdirSync(dirname(this.store));
  }

  serve(): Promise<Service> {
    return this.work.serve(this.#environment);
  }

  /** Runs the command of the unit. */
  replicate(): RunningProcess {
    const [command = ''] = settings(unitText('animal-store-litestream.service'), 'ExecStart');
    expect(command).toContain('/etc/litestream.yml');
    const [program = '', ...args] = wordsOf(command.replace('/etc/litestream.yml', this.#config));
    return runCommand(program, args, {});
  }

  /** Restores the replica into a new file, and returns the path of the file. */
  async restored(...args: readonly string[]): Promise<string> {
    const file = this.work.path(`restored-${performance.now()}.db`);
    const restore = runCommand(
      LITESTREAM,
      ['restore', '-config', this.#config, '-o', file, ...args, this.store],
      {},
    );
    const { code } = await restore.exit;
    expect(code, restore.out.stdout + restore.out.stderr).toBe(0);
    return file;
  }

  /** Restores the latest copy that is not damaged and was at least this old at the crash. Returns its age in milliseconds. */
  async restoreCrashed(crash: number, least: number): Promise<number> {
    for (let age = least; age <= least + TRIES * BEFORE_CRASH; age += BEFORE_CRASH) {
      const time = age === 0 ? [] : ['-timestamp', new Date(crash - age).toISOString()];
      const { status, err } = await this.run('restore', '--force', await this.restored(...time));
      if (status === 0) return age;
      expect(err).toContain('is damaged');
    }
    throw new Error('each copy is damaged');
  }

  /** Runs a command on the store. */
  run(...args: readonly string[]) {
    return this.work.run(args, undefined, this.#environment);
  }

  /** Runs a command on the store. It must succeed. */
  async output(...args: readonly string[]): Promise<string> {
    const { status, out, err } = await this.run(...args);
    expect(status, out + err).toBe(0);
    return out;
  }

  /** Imports pets into the store. */
  async import(pets: string): Promise<void> {
    const { status, err } = await this.work.run(['import', '-'], pets, this.#environment);
    expect(status, err).toBe(0);
  }
}

/** Creates pets until `isOver` returns true or the server is gone. Returns the pets that were acknowledged. */
async function createPets({ client }: Service, isOver: () => boolean, clients = 8): Promise<Created[]> {
  const created: Created[] = [];
  const create = async (number: number) => {
    for (let turn = 0; !isOver(); turn++) {
      const name = `pet ${number} ${turn}`;
      const response = await client.post({ name, categoryId: 1 }).catch(() => undefined);
      if (response === undefined) return;
      expect(response.status).toBe(201);
      const { id } = JSON.parse(response.body) as { id: number };
      created.push({ id, name, at: Date.now() });
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => create(number)));
  return created;
}

/** The names of the exported pets, by id. */
function namesOf(text: string): Map<number, string> {
  const pets = text.trimEnd().split('\n').filter(Boolean);
  return new Map(
    pets.map((line) => {
      const { id, name } = JSON.parse(line) as Created;
      return [id, name];
    }),
  );
}

describe.skipIf(!hasLitestream && !process.env['CI'])(`Litestream${NOTE}`, () => {
  test('a store that was lost in a crash is restored, without the writes of about one second', async () => {
    const machine = new Machine();
    const litestream = machine.replicate();
    const server = await machine.serve();
    const key = (await machine.output('keys', 'create', '--name', 'client')).trim();
    let isOver = false;
    const creating = createPets(server, () => isOver);
    await sleep(7000);
    const crash = Date.now();
    for (const { child } of [litestream, server]) child.kill('SIGKILL');
    await Promise.all([litestream.exit, server.exit]);
    isOver = true;
    const acknowledged = await creating;
    expect(acknowledged.length).toBeGreaterThan(100);
    // The disk is lost too.
    rmSync(dirname(machine.store), { recursive: true });

    let names = new Map<number, string>();
    for (const least of [BEFORE_CRASH, 0]) {
      const age = await machine.restoreCrashed(crash, least);
      await machine.output('doctor');
      names = namesOf(await machine.output('export'));
      const lost = acknowledged.filter(({ id }) => !names.has(id));
      expect(acknowledged.filter(({ id, name }) => (names.get(id) ?? name) !== name)).toEqual([]);
      const window = crash - Math.min(crash, ...lost.map(({ at }) => at));
      console.log(
        `${age} ms before the crash: ${lost.length} of ${acknowledged.length}, of the last ${window} ms`,
      );
      expect(window).toBeLessThan(REPLICATION + age);
      // No pet in the middle is lost: the ids are those of the first pets.
      expect(Math.max(...names.keys())).toBe(names.size);
    }

    const restarted = await machine.serve();
    const list = await fetch(`${restarted.origin}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
    expect(list.status).toBe(200);
    // Ids that were assigned after the last copied write are assigned again.
    const response = await restarted.client.post({ name: 'next', categoryId: 1 });
    expect(JSON.parse(response.body)).toMatchObject({ id: names.size + 1 });
  });

  test('when the server stops before Litestream, nothing is lost', async () => {
    const machine = new Machine();
    const server = await machine.serve();
    const litestream = machine.replicate();
    await sleep(REPLICATION);
    const end = Date.now() + 3000;
    const acknowledged = await createPets(server, () => Date.now() > end);
    expect(await stopService(server)).toEqual({ code: 0, signal: null });
    expect(await stopService(litestream)).toEqual({ code: 0, signal: null });
    const before = await machine.output('export');
    expect(namesOf(before).size).toBe(acknowledged.length);
    rmSync(dirname(machine.store), { recursive: true });
    await machine.output('restore', await machine.restored());
    expect(await machine.output('export')).toBe(before);
  });

  test('creates, an import, a backup, keys and doctor work while Litestream runs', async () => {
    const machine = new Machine();
    const server = await machine.serve();
    const litestream = machine.replicate();
    const end = Date.now() + 8000;
    const creating = createPets(server, () => Date.now() > end);
    await sleep(2000);
    await machine.import(lines(100_000));
    await machine.output('keys', 'create', '--name', 'second');
    await machine.output('backup', machine.work.path('backup.db'));
    expect((await creating).length).toBeGreaterThan(100);
    expect(await machine.output('doctor')).toContain('integrity    ok');
    await stopService(server);
    await stopService(litestream);
    expect(server.out.stderr).not.toContain('"level":50');
    await machine.output('restore', '--force', machine.work.path('backup.db'));
    expect(await machine.output('doctor')).toContain('integrity    ok');
  });

  test('an older state is restored over a store, and Litestream copies the restored store', async () => {
    const machine = new Machine();
    const litestream = machine.replicate();
    const server = await machine.serve();
    await machine.import('{"name":"early","categoryId":1}\n');
    await sleep(REPLICATION);
    const time = new Date().toISOString();
    await sleep(REPLICATION);
    await machine.import('{"name":"late","categoryId":1}\n');
    await sleep(REPLICATION);

    const file = await machine.restored('-timestamp', time);
    await stopService(server);
    const refused = await machine.work.run(['restore', '--force', file], undefined, {
      DATABASE_URL: `sqlite:${machine.store}`,
    });
    expect(refused.status).toBe(1);
    expect(refused.err).toContain('another process');
    await stopService(litestream);
    await machine.output('restore', '--force', file);
    expect([...namesOf(await machine.output('export')).values()]).toEqual(['early']);

    const again = machine.replicate();
    const restarted = await machine.serve();
    await machine.import('{"name":"later","categoryId":1}\n');
    await sleep(2 * REPLICATION);
    for (const { child } of [again, restarted]) child.kill('SIGKILL');
    await Promise.all([again.exit, restarted.exit]);
    const expected = await machine.output('export');
    expect([...namesOf(expected).values()]).toEqual(['early', 'later']);
    rmSync(dirname(machine.store), { recursive: true });
    await machine.output('restore', await machine.restored());
    expect(await machine.output('export')).toBe(expected);
  });
});
