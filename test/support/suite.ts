import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';
import { RETRY } from './retry.ts';

const HERE = import.meta.dirname;

type Test = NonNullable<ViteUserConfig['test']>;

/** The settings of tests that run the built command. They wait for other programs, so a test that fails is tried once more. */
export function ofCommand({ globalSetup = [], ...test }: Test): Test {
  return {
    retry: RETRY,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
    // The command must have been built from the present sources. The documentation that it serves is built here.
    globalSetup: [`${HERE}/fresh-build.ts`, `${HERE}/built-docs.ts`, ...[globalSetup].flat()],
    ...test,
  };
}

/** The configuration of a suite of such tests. */
export function suite(test: Test): ViteUserConfig {
  return defineConfig({ test: { reporters: ['verbose', new SummaryLine()], ...ofCommand(test) } });
}
