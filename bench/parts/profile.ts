/** Writes a CPU profile of each server at each kind of work. The developer tools of a browser can open a profile. */

import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { workDir } from '../processes.ts';
import { Session } from '../session.ts';

const PROFILES = join(import.meta.dirname, '../profiles');

/**
 * Node.js writes one profile per thread when the process exits. The file name for the writer thread contains
 * `thread-1`.
 */
export async function profile(options: Options): Promise<readonly string[]> {
  const { servers, works, pets, seconds, warmup, connections } = options;
  mkdirSync(PROFILES, { recursive: true });
  const written: string[] = [];
  for (const work of works) {
    for (const name of servers) {
      const raw = join(workDir, 'profiles');
      rmSync(raw, { recursive: true, force: true });
      const environment = { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${raw}` };
      await Session.run({ name, source: filledFile(pets), pets, environment }, (session) =>
        session.load(work, { seconds: seconds + warmup, connections }),
      );
      for (const file of readdirSync(raw)) {
        const thread = file.split('.').at(-3);
        const profileName = `${name}-${work}-thread-${thread}.cpuprofile`;
        renameSync(join(raw, file), join(PROFILES, profileName));
        written.push(`bench/profiles/${profileName}`);
      }
    }
  }
  return written;
}
