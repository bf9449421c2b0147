import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';
import { RETRY } from './retry.ts';

/** The configuration of a suite whose tests wait for other programs, so that a test that fails is tried once more. */
export function suite(test: NonNullable<ViteUserConfig['test']>): ViteUserConfig {
  return defineConfig({
    test: {
      retry: RETRY,
      testTimeout: 120_000,
      hookTimeout: 120_000,
      reporters: ['verbose', new SummaryLine()],
      ...test,
    },
  });
}
