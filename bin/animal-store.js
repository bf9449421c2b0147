#!/usr/bin/env node
// Plain JavaScript that any Node.js can read: on a release that is too old, the SQLite driver would crash the process.
var needed = [22, 12];
var found = process.versions.node.split('.').map(Number);

if (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1])) {
  console.error(
    `animal-store: Node.js ${needed.join('.')} or newer is needed, this is ${process.versions.node}`,
  );
  process.exitCode = 1;
} else {
  import('../dist/main.js').catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/dist.main\.js/.test(error.message)) throw error;
    console.error('animal-store: it is not built yet: npm run build');
    process.exitCode = 1;
  });
}
