/** Tests that random operations have the same results on a storage and on a plain model. */

import assert from 'node:assert/strict';
import { arrayOf, checkOptions, type OptionRules } from '../application/arguments.ts';
import type { StoreStorage } from '../application/ports/storage.ts';
import { type ContractCase, endingCase, type Opened, type Subject } from './contract.ts';
import { Model } from './differential/model.ts';
import { type Operation, PARTS, type Part, pick, TICK, type World } from './differential/operation.ts';
import { assertSameState, OPERATIONS } from './differential/operations.ts';
import { randomNumbers } from './random.ts';

/** The options of {@link differentialContract}. */
export interface DifferentialOptions {
  /** The seeds of the random sequences of operations. Default: 1 to 4. */
  readonly seeds?: readonly number[] | undefined;
  /** The number of operations of a sequence. Default: 120. */
  readonly steps?: number | undefined;
  /** The parts that the storage lacks, such as `apiKeys`. Their operations are left out. Default: none. */
  readonly lacks?: readonly Exclude<Part, 'pets' | 'reopen' | 'moveClock'>[] | undefined;
}

const STEPS = 120;
const INTEGER = { expected: 'an integer', accepts: Number.isInteger };
const PART = {
  expected: `one of ${PARTS.join(', ')}`,
  accepts: (name: unknown) => PARTS.some((part) => part === name),
};
const OPTIONS: OptionRules<DifferentialOptions> = {
  seeds: arrayOf('an array of integers', INTEGER),
  steps: INTEGER,
  lacks: arrayOf('an array of parts', PART),
};

/** Operations that succeed only in an empty store. Each sequence begins with one of them, if the storage supports it. */
const BEGINNINGS = ['import pets with ids', 'create the first key'];

/**
 * Returns a test that calls random operations on a storage and on a plain model. After each operation, the test compares the
 * results and the contents. Each outcome of each operation must occur: while an outcome is missing, sequences with further
 * seeds follow. Operations on a part that the storage lacks are left out, and the name of the test names the part.
 */
export function differentialContract(
  subject: Subject<StoreStorage>,
  options: DifferentialOptions = {},
): ContractCase[] {
  const { seeds = [1, 2, 3, 4], steps = STEPS, lacks = [] } = checkOptions(options, OPTIONS);
  const lacking: Part[] = [...lacks];
  if (subject.reopen === undefined) lacking.push('reopen');
  const hasRecords = !lacks.includes('idempotentCreates') || !lacks.includes('idempotentChanges');
  const hasClock = subject.moveClock !== undefined && !lacks.includes('idempotencyRecords');
  if (!hasRecords || !hasClock) lacking.push('moveClock');
  const names = Object.keys(OPERATIONS).filter((name) => !lacking.includes(partOf(name)));
  const run = async (): Promise<void> => {
    const missing = new Set(
      names.flatMap((name) => OPERATIONS[name]?.outcomes.map((each) => `${name}: ${each}`)),
    );
    const further = Array.from({ length: 50 }, (_, index) => Math.max(0, ...seeds) + 1 + index);
    for (const [index, seed] of [...seeds, ...further].entries()) {
      const isFurther = index >= seeds.length;
      if (isFurther && missing.size === 0) break;
      const beginning = BEGINNINGS[index % BEGINNINGS.length] as string;
      const first = names.includes(beginning) ? [beginning] : [];
      const outcomes = await runSequence(subject, seed, isFurther ? STEPS : steps, names, first);
      for (const outcome of outcomes) missing.delete(outcome);
    }
    assert.deepEqual([...missing], [], 'expected each operation to have each of its outcomes');
  };
  const without = lacking.length === 0 ? '' : `, without ${lacking.join(', ')}`;
  const name = `random operations have the results of a plain model (seeds ${seeds.join(', ')}; ${steps} each${without})`;
  return [endingCase(subject, name, run)];
}

function partOf(name: string): Part {
  return (OPERATIONS[name] as Operation).part;
}

/** Runs one sequence, and returns the outcomes of its operations. */
async function runSequence(
  subject: Subject<StoreStorage>,
  seed: number,
  steps: number,
  names: readonly string[],
  first: readonly string[],
): Promise<Set<string>> {
  let opened = await subject.open();
  const random = randomNumbers(seed);
  const world: World = {
    storage: opened.port,
    model: new Model(),
    random,
    now: Date.UTC(2030, 0, 1),
    moveClock: async (milliseconds) => subject.moveClock?.(opened, milliseconds),
    reopen: async () => {
      await opened.close();
      opened = (await subject.reopen?.(opened)) as Opened<StoreStorage>;
      world.storage = opened.port;
    },
  };
  const weighted = names.flatMap((name) => Array<string>(OPERATIONS[name]?.weight ?? 0).fill(name));
  const outcomes = new Set<string>();
  const has = (part: Part) => {
    if (part === 'moveClock') return opened.port.idempotencyRecords !== undefined;
    return (part === 'reopen' ? subject.reopen : opened.port[part]) !== undefined;
  };
  try {
    for (const name of names)
      assert.ok(has(partOf(name)), `the storage has no ${partOf(name)}, and 'lacks' does not say so`);
    for (let step = 0; step < steps; step += 1) {
      world.now += TICK;
      const name = first[step] ?? pick(random, weighted);
      try {
        outcomes.add(`${name}: ${await OPERATIONS[name]?.run(world)}`);
        await assertSameState(world);
      } catch (cause) {
        throw new Error(`seed ${seed}, step ${step}, ${name}: ${(cause as Error).message}`, { cause });
      }
    }
  } finally {
    await opened.close();
  }
  return outcomes;
}
