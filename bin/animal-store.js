#!/usr/bin/env node
// Every Node.js release can parse this file. It refuses old releases, on which the SQLite driver would crash the process.
var needed = [22, 12];
var found = process.versions.node.split('.').map(Number);

if (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1])) {
  console.error(`animal-store: expected Node.js ${needed.join('.')} or later, got ${process.versions.node}`);
  process.exitCode = 1;
} else {
  setFlags()
    .then(() => import('../dist/main.js'))
    .catch((error) => {
      if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/dist.main\.js/.test(error.message)) throw error;
      console.error('animal-store: dist/main.js does not exist: run npm run build');
      process.exitCode = 1;
    });
}

/**
 * Turns off the pretenuring of V8. While requests wait for the disk, V8 learns that their objects live long. From then on, it
 * allocates such objects in the old generation, where they keep later garbage alive. bench/README.md has the figures. Bun
 * and Deno, which also set `process.versions.node`, have other settings for memory.
 */
function setFlags() {
  if (process.versions.bun !== undefined || process.versions.deno !== undefined) return Promise.resolve();
  return import('node:v8').then((v8) => v8.setFlagsFromString('--no-allocation-site-pretenuring'));
}
