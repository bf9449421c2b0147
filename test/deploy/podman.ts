/** Runs Podman with a storage and settings of its own, and makes the images that no registry can give. */

import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEPLOY } from './unit.ts';

const CLONE = join(DEPLOY, '..');

/** The certificates of this machine: here, and in the base image, where no package overwrites them. */
const [CERTIFICATES, TRUSTED] = ['/etc/ssl/certs/ca-certificates.crt', '/usr/local/share/certificates.pem'];

/** For a command, in milliseconds. The build of the image took more than ten minutes on a busy machine. */
const TIMEOUT = 1_800_000;

/** The type of the file system overlay, which cannot contain another one. */
const OVERLAY = 0x794c7630;

/** Whether this machine can build and run images: the tests make the base image as root. */
export const hasPodman: boolean =
  process.getuid?.() === 0 &&
  ['podman', 'podman-compose', 'mmdebstrap', 'runc'].every(
    (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
  );

export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class Podman {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'animal-store-'));
  readonly #environment: Record<string, string>;

  constructor() {
    const driver = statfsSync(this.folder).type === OVERLAY ? 'vfs' : 'overlay';
    const [settings, storage] = [join(this.folder, 'containers.conf'), join(this.folder, 'storage.conf')];
    writeFileSync(
      settings,
      `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "${this.folder}/networks"
`,
    );
    writeFileSync(
      storage,
      `[storage]\ndriver = "${driver}"\ngraphroot = "${this.folder}/storage"\nrunroot = "${this.folder}/run"\n`,
    );
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      CONTAINERS_CONF: settings,
      CONTAINERS_STORAGE_CONF: storage,
      // No timers for health checks: they would need systemd.
      DISABLE_HC_SYSTEMD: 'true',
    };
  }

  /** Runs a command line in a shell in the clone, or in another folder. */
  run(command: string, folder: string = CLONE): Promise<Ended> {
    return new Promise((resolve) => {
      const options = { cwd: folder, env: this.#environment, timeout: TIMEOUT, maxBuffer: 2 ** 26 };
      const child = execFile('bash', ['-c', command], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        // Podman ends with the status 0 when it is stopped after the timeout.
        const isComplete = !child.killed && typeof code === 'number';
        resolve({ status: isComplete ? code : -1, stdout, stderr });
      });
    });
  }

  /** Runs a command line that must succeed, and returns its standard output. */
  async output(command: string, folder?: string): Promise<string> {
    const { status, stdout, stderr } = await this.run(command, folder);
    if (status !== 0) throw new Error(`${command}: exit status ${status}\n${stdout}\n${stderr}`);
    return stdout.trim();
  }

  /** Makes an image of Debian 13 from its packages. The image trusts the certificates that this machine trusts. */
  async makeBase(name: string): Promise<void> {
    const folder = join(this.folder, 'base');
    mkdirSync(folder);
    await this.output(`mmdebstrap --quiet --variant=apt --dpkgopt=force-unsafe-io trixie ${folder}/root.tar`);
    const trust = existsSync(CERTIFICATES);
    if (trust) copyFileSync(CERTIFICATES, join(folder, 'certificates'));
    const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
    writeFileSync(
      join(folder, 'Containerfile'),
      `FROM scratch
ADD root.tar /
${trust ? `COPY certificates ${TRUSTED}\nENV NODE_EXTRA_CA_CERTS=${TRUSTED}` : ''}
ENV npm_config_registry=${registry} DEBIAN_FRONTEND=noninteractive
`,
    );
    await this.output(`podman build --quiet --tag ${name} ${folder}`);
    rmSync(join(folder, 'root.tar'));
  }

  /** Removes all containers, images, networks and files. */
  async remove(): Promise<void> {
    await this.run('podman rm --force --all --time 0; podman network prune --force');
    await this.run(`umount ${this.folder}/storage/overlay`);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
