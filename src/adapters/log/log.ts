/** Creates the logger. */

import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { withoutApiKeys } from '../../domain/api-key.ts';
import { errorFields } from './error-fields.ts';

export function logTo(destination: DestinationStream, level: LevelWithSilent): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime;
  const hooks = { streamWrite: withoutApiKeys };
  return pino({ level, base: null, timestamp, serializers: { err: errorFields }, hooks }, destination);
}
