/** Runs around each file of tests. */

import { afterAll } from 'vitest';
import { cleanUp } from './server.ts';

afterAll(cleanUp);
