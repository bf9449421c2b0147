/** The streams of the process: results go to standard output, and messages, progress and errors to standard error. */

import { fstatSync, readSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { Presets, SingleBar } from 'cli-progress';
import { untilAborted } from '../../application/until-aborted.ts';
import { visible, visibleLines } from '../../domain/visible.ts';
import { CommandError, OutputError } from './errors.ts';

type Write = (data: string | Uint8Array) => Promise<void>;

export interface Console {
  /**
   * Writes a text to standard output, escaped by `visibleLines`. Resolves when the operating system has accepted it. If the process is
   * asked to stop during the write, rejects at once, even if the reader has stalled.
   */
  readonly out: (text: string) => Promise<void>;
  /** Like `out`, but rejects with the signal's reason, and escapes only for a terminal, which could execute control characters. */
  readonly outData: Write;
  /** Writes a text to standard error, escaped by `visibleLines`. Ignores a failed write. */
  readonly err: (text: string) => void;
  /** If standard error is a terminal, shows what a command does and the share that is done, until the next text. */
  readonly progress: (title?: string, share?: number) => void;
  readonly stdin: Readable;
  readonly isInputClosed: boolean;
  readonly isOutputClosed: boolean;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether standard output is the null device, which Node.js opens if it starts with standard output closed. */
  readonly isDiscarded: boolean;
}

type Input = Readable & { readonly fd?: number };
type Output = Writable & { readonly fd?: number; readonly isTTY?: boolean };

/** @param signal aborted when the process is asked to stop */
export function consoleOf(
  { stdin, stdout, stderr }: { readonly stdin: Input; readonly stdout: Output; readonly stderr: Output },
  signal: AbortSignal,
): Console {
  // Without a listener, a failed write would end the process.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  const { fd, isTTY: isTerminal = false } = stdout;
  const outRaw = writerTo(stdout, fd !== undefined && fstatSync(fd).isFile() ? fd : undefined);
  const progress = progressOn(stderr);
  const write = (data: string | Uint8Array, error?: () => Error) =>
    signal.aborted ? outRaw(data) : untilAborted(outRaw(data), signal, error);
  const writeText = (text: string, error?: () => Error) => {
    progress();
    return write(visibleLines(text), error);
  };
  return {
    out: (text) => writeText(text, () => new OutputError(new Error('interrupted'))),
    outData: (data) => (isTerminal ? writeText(Buffer.from(data).toString()) : write(data)),
    err(text) {
      progress();
      stderr.write(visibleLines(text));
    },
    progress,
    stdin,
    isInputClosed: isClosed(stdin.fd),
    isOutputClosed: isClosed(fd),
    isTerminal,
    isDiscarded: isNull(fd),
  };
}

function isNull(fd?: number): fd is number {
  if (fd === undefined || !fstatSync(fd).isCharacterDevice()) return false;
  return fstatSync(fd).rdev === statSync(devNull, { throwIfNoEntry: false })?.rdev;
}

/**
 * In place of a closed descriptor, Node.js opens the null device to read and write. If a parent process has opened it in this way,
 * to discard output, the descriptor also counts as closed.
 */
function isClosed(fd?: number): boolean {
  try {
    return isNull(fd) && readSync(fd, new Uint8Array(1)) + writeSync(fd, '') === 0;
  } catch {
    return false;
  }
}

/**
 * Writes to a regular file without the stream. On a full disk, the stream would report success although it has written only a part
 * of the bytes.
 */
function writerTo(stream: Output, file: number | undefined): Write {
  return async (data) => {
    try {
      if (file !== undefined) return writeFileSync(file, data);
      await new Promise<void>((resolve, reject) => {
        stream.write(data, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      throw new OutputError(error as Error);
    }
  };
}

/** Refuses a closed standard output before a command begins, because the data that the command writes would be lost. */
export function refuseClosedOutput({ isOutputClosed }: Console): void {
  if (isOutputClosed)
    throw new CommandError('standard output is closed, so the data would be lost: redirect it to a file');
}

/**
 * Prints the result of a completed command, as a sentence or as JSON. If this fails, prints the sentence to standard error and
 * rejects, so a command must print its notices before this call.
 */
export async function printResult(
  { out, err }: Pick<Console, 'out' | 'err'>,
  sentence: string,
  members: object | string,
  json?: boolean,
): Promise<void> {
  const text = `${visible(sentence)}\n`;
  const document = typeof members === 'string' ? members : JSON.stringify(members);
  await out(json ? `${document}\n` : text).catch((error: Error) => {
    err(text);
    throw error;
  });
}

/** In milliseconds. A shorter command shows no progress. */
const DELAY = 500;

const BAR = '{title}  [{bar}]  {percentage} %  {eta_formatted} left';

/**
 * Returns a function that shows progress on a terminal: a title, and the share that is done. A call without a title hides the
 * progress.
 */
function progressOn(stream: Writable): (title?: string, share?: number) => void {
  const startedAt = performance.now();
  let bar: SingleBar | undefined;
  let shown = '';
  return (title, share) => {
    if (title !== undefined && performance.now() - startedAt < DELAY) return;
    const format = title === undefined ? '' : share === undefined ? '{title}' : BAR;
    if (format !== shown) {
      shown = format;
      bar?.stop();
      bar = undefined;
    }
    if (title === undefined) return;
    if (bar === undefined) {
      bar = new SingleBar(
        { format, stream, barsize: 24, linewrap: true, clearOnComplete: true },
        Presets.legacy,
      );
      bar.start(1, 0, { title });
    }
    bar.update(share ?? 0, { title });
  };
}
