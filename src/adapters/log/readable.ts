import { styleText } from 'node:util';
import { visible, visibleLines } from '../../domain/visible.ts';

type Style = Parameters<typeof styleText>[0];

const LEVELS: ReadonlyMap<unknown, readonly [name: string, style: Style]> = new Map([
  [10, ['TRACE', 'dim']],
  [20, ['DEBUG', 'dim']],
  [30, ['INFO', 'green']],
  [40, ['WARN', 'yellow']],
  [50, ['ERROR', 'red']],
  [60, ['FATAL', 'red']],
]);

/** Returns a function that turns a line of the log in JSON into a line for people, whose text cannot control a terminal. */
export function readableLines(hasColours: boolean): (line: string) => string {
  const styled = (style: Style, text: string): string =>
    hasColours ? styleText(style, text, { validateStream: false }) : text;

  function requestLine({
    method,
    route,
    path,
    status,
    ms,
    keyName,
    keyId,
    aborted,
    requestId,
  }: Fields): string {
    const took = `${Number(ms).toFixed(1)} ms`;
    const failed = Number(status) >= 500 ? ` ${requestId}` : '';
    const who = keyName ?? keyId ?? '';
    const left = aborted === undefined ? '' : ' aborted';
    const request = `${method} ${route ?? path ?? ''}`;
    const style = styleOf(Number(status));
    return `${visible(request)} ${styled(style, String(status))} ${took}${left}${visible(`${failed}  ${who}`).trimEnd()}`;
  }

  return (line) => {
    const { level, time, msg, err, ...fields } = JSON.parse(line) as Fields;
    const at = new Date(String(time)).toLocaleTimeString('en-GB');
    if (msg === 'request') return `${styled('dim', at)} ${requestLine(fields)}\n`;
    const [name, style] = LEVELS.get(level) ?? [String(level), 'dim'];
    const { message, stack } = (err ?? {}) as Readonly<Record<string, unknown>>;
    const facts = Object.entries(fields).map(
      ([key, value]) => styled('dim', `${visible(key)}=`) + visible(shown(value)),
    );
    const error = err === undefined ? '' : `\n${visibleLines(String(stack ?? message))}`;
    return `${styled('dim', at)} ${styled(style, name)} ${visible(String(msg))}${['', ...facts].join('  ')}${error}\n`;
  };
}

type Fields = Readonly<Record<string, unknown>>;

function shown(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function styleOf(status: number): Style {
  if (status >= 500) return 'red';
  if (status >= 400) return 'yellow';
  return status >= 300 ? 'cyan' : 'green';
}
