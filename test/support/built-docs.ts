/** Builds the reference page and the OpenAPI document from their sources, because a server reads the built files. */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../scripts/build-docs.js', import.meta.url));
let isBuilt = false;

/** The projects of a run share this process, so only the first one builds. */
export default function setup(): void {
  if (!isBuilt) execFileSync(process.execPath, [SCRIPT], { stdio: ['ignore', 'ignore', 'inherit'] });
  isBuilt = true;
}
