import type { Carrier } from '../api/app.ts';
import { readBytes } from './body.ts';
import { createRouter } from './router.ts';

export const KOA_CARRIER: Carrier = { createRouter, readBytes };
