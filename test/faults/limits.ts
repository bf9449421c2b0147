/** Times have limits on a quiet machine only, where the project `limits` runs. */

import { expect } from 'vitest';

export function expectWithin(milliseconds: number, limit: number): void {
  if (process.env['FAULTS_LIMITS'] === 'true') expect(milliseconds).toBeLessThan(limit);
}
