/** Compares a storage with a plain model of it, over random operations. */

import { type ContractCase, differentialContract } from '../../src/testing/index.ts';
import type { SubjectOf } from './contracts.ts';
import { IS_SHORT, IS_WHOLE } from './extent.ts';

/** At night, the random operations are others each time. The name of the test shows the seeds. */
const RANDOM_SEEDS = Array.from({ length: 4 }, () => Math.floor(Math.random() * 1e6));

export function plainModel(subjectOf: SubjectOf): Readonly<Record<string, readonly ContractCase[]>> {
  if (IS_SHORT) return {};
  const options = IS_WHOLE ? { seeds: RANDOM_SEEDS, steps: 300 } : {};
  return {
    'Plain model': differentialContract(
      subjectOf((storage) => storage),
      options,
    ),
  };
}
