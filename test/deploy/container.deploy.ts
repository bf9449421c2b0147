/** The image and the compose file in `deploy`, with the commands of `docs/containers.md`. */

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Client } from '../support/client.ts';
import { Connection } from '../support/connection.ts';
import { freePort } from '../support/free-port.ts';
import { REX_JSON } from '../support/pets.ts';
import { hasPodman, Podman } from './podman.ts';
import { DEPLOY, statusOf } from './unit.ts';

const BASE = 'localhost/debian-13';

/** The image of PostgreSQL in the compose file, and the files of the image that stands in for it. */
const POSTGRES = 'docker.io/library/postgres:18';
const STAND_IN = 'test/deploy/postgres.Containerfile test/deploy';

const { version } = JSON.parse(readFileSync(join(DEPLOY, '../package.json'), 'utf8')) as { version: string };

/** Each release of a major version has the same name of an image. */
const IMAGE = `animal-store:${version.split('.')[0]}`;

const MANUAL = readFileSync(join(DEPLOY, '../docs/containers.md'), 'utf8').replaceAll(/ \\\n +/g, ' ');
const isSkipped = !hasPodman && !process.env['CI'];
const note = isSkipped ? ' (skipped: needs root, podman, podman-compose, mmdebstrap and runc)' : '';

/** Returns the command of the manual that starts with the given words, as the manual says to write it for Podman. */
function documented(start: string): string {
  const command = MANUAL.split('\n').find((line) => line.startsWith(`# ${start}`));
  if (command === undefined) throw new Error(`docs/containers.md has no command ${start}`);
  return command
    .slice(2)
    .replace('docker compose', 'podman-compose')
    .replace('docker', 'podman')
    .replace('podman build', 'podman build --format docker');
}

/** Returns the last word of a text, which is the new key in the output of `keys create`. */
const keyIn = (text: string) => /\bpets_\w+/.exec(text)?.[0] ?? '';

describe.skipIf(isSkipped)(`containers${note}`, () => {
  let podman: Podman;
  let size = 0;
  let labels = '';

  beforeAll(async () => {
    podman = new Podman();
    await podman.makeBase(BASE);
    await Promise.all([
      podman.output(documented('docker build').replace('build', `build --build-arg BASE=${BASE}`)),
      podman.output(
        `podman build --build-arg BASE=${BASE} --format docker --tag ${POSTGRES} --file ${STAND_IN}`,
      ),
    ]);
    const inspected = await podman.output(
      `podman image inspect ${IMAGE} --format '{{.Size}} {{json .Labels}}'`,
    );
    [size, labels] = [Number.parseInt(inspected, 10), inspected];
  }, 3_600_000);

  afterAll(() => podman.remove());

  /** Starts a container with the command of the manual. It is removed at the end of the test, but its volume is not. */
  async function start(extra = ''): Promise<{ origin: string }> {
    const port = await freePort();
    const command = documented('docker run')
      .replace('127.0.0.1:3000:', `127.0.0.1:${port}:`)
      .replace('podman run', `podman run ${extra}`);
    await podman.output(command);
    onTestFinished(async () => void (await podman.run('podman rm --force --time 0 animal-store')));
    const origin = `http://127.0.0.1:${port}`;
    await expect.poll(() => statusOf(`${origin}/readyz`)).toBe(200);
    return { origin };
  }

  function clientWith(origin: string, key: string): Client {
    const client = new Client(origin, key);
    onTestFinished(() => client.close());
    return client;
  }

  /** Starts a container, and creates a key for a client. */
  async function startWithClient(extra?: string): Promise<Client> {
    const { origin } = await start(extra);
    const created = await podman.output(documented('docker exec animal-store animal-store keys'));
    return clientWith(origin, keyIn(created));
  }

  /** Runs JavaScript in the container, and returns what it prints. */
  const evaluate = (script: string, name = 'animal-store') =>
    podman.output(`podman exec ${name} node --print '${script}'`);

  const exitStatus = (name: string) => podman.output(`podman inspect ${name} --format '{{.State.ExitCode}}'`);

  test('the image is small, and has no shell, no package manager, no types and no sources', async () => {
    expect(size / 1e6).toBeGreaterThan(100);
    expect(Math.round(size / 1e7) * 10).toBe(170);
    expect(labels).toContain(`"org.opencontainers.image.version":"${version}"`);
    expect((await podman.run(`podman run --rm --entrypoint sh ${IMAGE} -c true`)).status).toBe(127);
    await start();
    const files =
      await evaluate(`["/etc", "/opt", "/usr", "/var/lib/dpkg"].flatMap((folder) => fs.readdirSync(folder, { recursive: true })
        .map((path) => folder + "/" + path)).join("\\n")`);
    expect(files).toContain('opt/animal-store/dist/main.js');
    expect(files).toContain('opt/animal-store/node_modules/pg/package.json');
    expect(files).toMatch(/var\/lib\/dpkg\/status\.d\/libc6$/m);
    expect(files).not.toMatch(
      /bin\/(sh|bash|env|apt|dpkg|npm)$|node_modules\/(npm|typescript)$|\.[cm]?ts$|\.map$|\.c$/m,
    );
    expect(files.match(/[^/]*\.node$/gm)).toEqual([`linux-${process.arch}.node`]);
  });

  test('a server without root, capabilities and a writable file system serves', async () => {
    const client = await startWithClient('--read-only-tmpfs=false');
    expect((await client.post(REX_JSON)).status).toBe(201);
    expect((await client.get('/v1/pets')).body).toContain(REX_JSON.slice(1));
    expect(await evaluate('[process.getuid(), process.getgid()].join()')).toBe('10001,10001');
    const status = await evaluate('fs.readFileSync("/proc/1/status", "utf8")');
    expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    for (const host of ['[::1]', '127.0.0.1', 'localhost'])
      expect(
        await evaluate(`fetch("http://${host}:3000/livez").then(({ status }) => console.log(status))`),
      ).toContain('200');
    for (const folder of ['/', '/tmp', '/opt/animal-store', '/usr/local/bin']) {
      const { status, stderr } = await podman.run(
        `podman exec animal-store node -e 'fs.writeFileSync("${folder}/file", "")'`,
      );
      expect(status).toBe(1);
      expect(stderr).toContain('EROFS');
    }
    expect(await podman.output('podman logs animal-store')).not.toContain(client.key);
  });

  test('the data and the keys survive in the volume, and a backup can be copied out', async () => {
    const client = await startWithClient();
    const created = await client.post(REX_JSON);
    expect(created.status).toBe(201);
    await podman.output(documented('docker exec animal-store animal-store backup'));
    await podman.output(documented('docker cp').replace(' .', ` ${podman.folder}`));
    expect(readFileSync(join(podman.folder, 'backup.db')).subarray(0, 13).toString()).toBe('SQLite format');
    await podman.output('podman rm --force animal-store');

    const next = clientWith((await start()).origin, client.key);
    const { id } = JSON.parse(created.body) as { id: number };
    expect(await next.get(`/v1/pets/${id}`)).toMatchObject({ status: 200, body: created.body });
  });

  test('DATABASE_URL_FILE replaces the store of the image, for the server and for its commands', async () => {
    const file = join(podman.folder, 'database-url');
    writeFileSync(file, 'sqlite:/var/lib/animal-store/other.db\n');
    const inContainer = '/run/secrets/database-url';
    const mounted = `--volume ${file}:${inContainer}:ro --env DATABASE_URL_FILE=${inContainer}`;
    expect((await (await startWithClient(mounted)).post(REX_JSON)).status).toBe(201);
    expect(await podman.output('podman exec animal-store animal-store export')).toContain(REX_JSON.slice(1));
    expect(await podman.output('podman exec animal-store animal-store doctor')).toContain(
      '/var/lib/animal-store/other.db',
    );
    expect(await evaluate('fs.existsSync("/var/lib/animal-store/other.db")')).toBe('true');
  });

  test('the health check fails while the server does not respond, and passes again afterwards', async () => {
    await start();
    const check = 'podman healthcheck run animal-store';
    await podman.output(check);
    await podman.output('podman kill --signal STOP animal-store');
    expect((await podman.run(check)).status).toBe(1);
    await podman.output('podman kill --signal CONT animal-store');
    await podman.output(check);
  });

  test('a stop reaches the server, which completes its requests and exits with status 0', async () => {
    const { origin, key } = await startWithClient();
    const body = REX_JSON;
    const connection = await Connection.open(origin);
    onTestFinished(() => connection.destroy());
    connection.write(
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    );
    const stopped = podman.output(documented('docker stop'));
    const log = async () => (await podman.run('podman logs animal-store')).stderr;
    await expect.poll(log).toContain('"stopping"');
    connection.write(body.slice(9));
    expect(await connection.next()).toMatchObject({ status: 201 });
    await stopped;
    // podman kills after 10 s, and then the status is 137.
    expect(await exitStatus('animal-store')).toBe('0');
    expect(await log()).toContain('"stopped"');
  });

  test('the compose file starts PostgreSQL and a server, and keeps the pets', async () => {
    // The names of an interrupted run can still belong to its network.
    const project = `compose-${process.pid}`;
    const server = `${project}_server_1`;
    const folder = join(podman.folder, project);
    mkdirSync(join(folder, 'deploy'), { recursive: true });
    copyFileSync(join(DEPLOY, 'compose.yaml'), join(folder, 'deploy/compose.yaml'));
    const port = await freePort();
    const run = (start: string) => podman.output(documented(start), folder);
    onTestFinished(async () => void (await podman.run('podman-compose down --volumes', folder)));
    await run('cp deploy/compose.yaml');
    const text = readFileSync(join(folder, 'compose.yaml'), 'utf8');
    writeFileSync(join(folder, 'compose.yaml'), text.replace('127.0.0.1:3000:', `127.0.0.1:${port}:`));
    await run('docker compose up');
    const origin = `http://127.0.0.1:${port}`;
    await expect.poll(() => statusOf(`${origin}/readyz`)).toBe(200);
    const client = clientWith(origin, keyIn(await run('docker compose exec')));
    expect((await client.post(REX_JSON)).status).toBe(201);
    await podman.output(`podman healthcheck run ${project}_postgres_1`);
    expect(
      (await podman.run(`podman exec ${server} node -e 'fs.writeFileSync("/opt/file", "")'`)).stderr,
    ).toContain('EROFS');
    const written = 'fs.readdirSync("/var/lib/animal-store").concat(fs.readdirSync("/tmp")).length';
    expect(await evaluate(written, server)).toBe('0');
    await podman.output('podman-compose stop', folder);
    expect(await exitStatus(server)).toBe('0');
    await run('docker compose down');

    await run('docker compose up');
    await expect.poll(() => statusOf(`${origin}/readyz`)).toBe(200);
    expect((await client.get('/v1/pets')).body).toContain(REX_JSON.slice(1));
  });
});
