/** Fails with one line, not pages of compiler errors, if packages that the build needs are missing. */

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const { resolve } = createRequire(import.meta.url);
const TOOLS = /^(?:@types\/.*|typescript|rolldown|marked|@valibot\/to-json-schema)$/;
const missing = Object.keys(devDependencies).filter((name) => TOOLS.test(name) && !isInstalled(name));

if (missing.length > 0) {
  const isProduction = process.env['NODE_ENV'] === 'production' || process.env['npm_config_omit'] === 'dev';
  const reason = isProduction
    ? 'because npm leaves them out for production'
    : 'because they are not installed';
  const advice = isProduction ? 'npm ci --include=dev' : 'npm ci';
  console.error(
    `animal-store: the build needs packages that are missing, ${reason}: ${missing.join(', ')}. ${advice} installs them`,
  );
  process.exitCode = 1;
}

/** Looks for the file `package.json`: `require.resolve` fails for packages that do not export it. */
function isInstalled(name) {
  return resolve.paths(name)?.some((folder) => existsSync(join(folder, name, 'package.json')));
}
