/** Formats the log for people, with control characters escaped. */

import { styleText } from 'node:util';
import { pino } from 'pino';
import { visible, visibleLines } from '../../domain/visible.ts';

const LEVEL_STYLES = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red', fatal: 'red' } as const;
const STATUS_STYLES = ['dim', 'dim', 'green', 'cyan', 'yellow', 'red'] as const;

/** Turns a JSON line of the log into readable text. */
export function readableLine(line: string, hasColours: boolean): string {
  const styled = (style: Parameters<typeof styleText>[0], text: string): string =>
    hasColours ? styleText(style, text, { validateStream: false }) : text;
  const { level, time, msg, err, ...fields } = JSON.parse(line);
  const at = styled('dim', new Date(time).toLocaleTimeString('en-GB'));
  if (msg === 'request') {
    const { method, route, path = '', status, ms, aborted, requestId, keyId = '' } = fields;
    const outcome = styled(STATUS_STYLES[Math.floor(status / 100)] ?? 'red', String(status));
    const notes = `${aborted ? ' aborted' : ''}${status >= 500 ? ` ${requestId}` : ''}  ${keyId}`.trimEnd();
    return `${at} ${visible(`${method} ${route ?? path}`)} ${outcome} ${ms.toFixed(1)} ms${visible(notes)}\n`;
  }
  const name = pino.levels.labels[level] as keyof typeof LEVEL_STYLES;
  const facts = Object.entries(fields).map(([key, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return `  ${styled('dim', `${visible(key)}=`)}${visible(text)}`;
  });
  const error = err === undefined ? '' : `\n${visibleLines(err.stack ?? err.message)}`;
  return `${at} ${styled(LEVEL_STYLES[name], name.toUpperCase())} ${visible(msg)}${facts.join('')}${error}\n`;
}
