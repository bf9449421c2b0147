/** Runs the mutation tests of the areas in the arguments, or of all areas: `npm run test:mutation -- core http`. */

import { spawnSync } from 'node:child_process';
import { AREAS } from './areas.mjs';

const given = process.argv.slice(2);
const unknown = given.filter((area) => !Object.hasOwn(AREAS, area));
if (unknown.length > 0) {
  console.error(`expected areas out of ${Object.keys(AREAS).join(', ')}, got ${unknown.join(', ')}`);
  process.exit(2);
}

const areas = given.length > 0 ? given : Object.keys(AREAS);
if (areas.some((area) => AREAS[area].needsBuild)) {
  const { status } = spawnSync('npm', ['run', 'build'], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

const failed = [];
for (const area of areas) {
  console.log(`== ${area}`);
  const { status } = spawnSync('stryker', ['run', 'test/mutation/stryker.config.mjs'], {
    stdio: 'inherit',
    env: { ...process.env, AREA: area },
  });
  if (status !== 0) failed.push(area);
}
if (failed.length > 0) console.error(`below the threshold, or not run: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
