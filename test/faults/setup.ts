/** Runs around each file of tests. */

import { afterAll } from 'vitest';
import { cleanUpFile } from '../support/process.ts';

afterAll(cleanUpFile);
