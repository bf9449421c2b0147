import { invalidRequest } from '../domain/errors.ts';

/** Reads the value of the option `database`. The error for an invalid value names this option. */
export function readDatabase<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw invalidRequest(`database: ${(error as Error).message}`);
  }
}
