/** The log on a terminal: a line for people, whose text cannot control the terminal. */

import { styleText } from 'node:util';
import { visible, visibleLines } from '../../domain/visible.ts';

const LEVELS = new Map([
  [20, ['DEBUG', 'dim'] as const],
  [30, ['INFO', 'green'] as const],
  [40, ['WARN', 'yellow'] as const],
  [50, ['ERROR', 'red'] as const],
  [60, ['FATAL', 'red'] as const],
]);
const STATUS_STYLES = ['dim', 'dim', 'green', 'cyan', 'yellow', 'red'] as const;

/** Turns a line of the log in JSON into a readable one. */
export function readableLine(line: string, hasColours: boolean): string {
  const styled = (style: Parameters<typeof styleText>[0], text: string): string =>
    hasColours ? styleText(style, text, { validateStream: false }) : text;
  const { level, time, msg, err, ...fields } = JSON.parse(line);
  const at = styled('dim', new Date(time).toLocaleTimeString('en-GB'));
  if (msg === 'request') {
    const { method, route, path = '', status, ms, aborted, requestId, keyId = '', keyName = keyId } = fields;
    const outcome = styled(STATUS_STYLES[Math.floor(status / 100)] ?? 'red', String(status));
    const notes = `${aborted ? ' aborted' : ''}${status >= 500 ? ` ${requestId}` : ''}  ${keyName}`.trimEnd();
    return `${at} ${visible(`${method} ${route ?? path}`)} ${outcome} ${ms.toFixed(1)} ms${visible(notes)}\n`;
  }
  const [name, style] = LEVELS.get(level) ?? [String(level), 'dim'];
  const facts = Object.entries(fields).map(([key, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return `  ${styled('dim', `${visible(key)}=`)}${visible(text)}`;
  });
  const error = err === undefined ? '' : `\n${visibleLines(err.stack ?? err.message)}`;
  return `${at} ${styled(style, name)} ${visible(msg)}${facts.join('')}${error}\n`;
}
