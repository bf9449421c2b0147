import { expect } from 'vitest';
import type { ErrorCode } from '../../src/domain/errors.ts';

/** Matches an error with a message, which is `invalid_request` unless another code is expected. */
export function refusal(message: string | RegExp, code: ErrorCode = 'invalid_request'): Error {
  const expected = typeof message === 'string' ? message : expect.stringMatching(message);
  return expect.objectContaining({ code, message: expected });
}
