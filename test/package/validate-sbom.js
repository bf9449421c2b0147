/** Validates a file with the schema of CycloneDX 1.5. It is JavaScript, because `npm run check` runs before this package is installed. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot5);
assert.equal(await validator.validate(readFileSync(process.argv[2], 'utf8')), null);
