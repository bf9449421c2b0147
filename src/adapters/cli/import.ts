import { once } from 'node:events';
import { createReadStream, fstatSync } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import type { PetTransfer } from '../../application/ports.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { CommandError, UsageError } from './errors.ts';
import { readLines } from './lines.ts';
import type { CliOptions } from './options.ts';
import { PetLines } from './pet-lines.ts';
import { counted, duration, Progress, rate } from './progress.ts';
import { RefusedLines } from './refused-lines.ts';
import { printResult } from './result.ts';
import { visible } from './visible.ts';

export interface ImportFlags {
  readonly skipInvalid?: boolean;
  /** Where the refused lines go. */
  readonly refused?: string;
  readonly newIds?: boolean;
  readonly json?: boolean;
}

interface Input {
  readonly name: string;
  readonly stream: Readable;
  /** In bytes; `undefined` when nobody knows. */
  readonly size: number | undefined;
}

const READ_SIZE = 64 * 1024;
const NOTHING = 'nothing was imported';

/** Adds the animals of a file of NDJSON, or of standard input for `-`: all of them, or none when anything fails. */
export async function importPets(
  file: string,
  flags: ImportFlags,
  databaseUrl: string | undefined,
  options: CliOptions,
): Promise<void> {
  const { console, signal } = options;
  const refused = refusedLinesOf(file, flags);
  const input = await openInput(file, options);
  try {
    const storage = await options.openStorage(databaseUrl, { mustExist: false });
    const progress = new Progress(console, 'animals');
    try {
      const lines = petLines(flags.newIds ?? false, refused);
      const count = await transfer(storage.transfer, input, lines, refused, progress, signal);
      await refused?.keep();
      progress.end();
      await report(count, progress.elapsed, refused, flags, options);
    } finally {
      progress.end();
      await storage.close();
    }
  } catch (error) {
    throw signal.aborted ? new CommandError(`interrupted, ${NOTHING}`) : error;
  } finally {
    input.stream.destroy();
    await refused?.discard();
  }
}

async function transfer(
  transfer: PetTransfer,
  input: Input,
  lines: PetLines,
  refused: RefusedLines | undefined,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  try {
    return await transfer.importPets(petsOf(input, lines, refused, progress), {
      onTaken: (pet) => lines.refuse(pet),
      onStored: (count) => progress.show({ title: 'Storing', count, share: count / lines.count }),
      signal,
    });
  } catch (error) {
    if (asAnimalStoreError(error)?.code !== 'invalid_request') throw error;
    const hint = lines.haveIds ? ' (--new-ids gives new ones)' : '';
    throw new CommandError(`${(error as Error).message}${hint}, ${NOTHING}`);
  }
}

/** The animals of the input, batch by batch. What was refused is on the disk before the last batch is over. */
async function* petsOf(
  input: Input,
  lines: PetLines,
  refused: RefusedLines | undefined,
  progress: Progress,
): AsyncGenerator<readonly (NewPet | Pet)[]> {
  let bytes = 0;
  const count = (length: number): void => {
    bytes += length;
  };
  for await (const pets of lines.read(readLines(chunksOf(input, count)))) {
    yield pets;
    await refused?.flush();
    const share = input.size === undefined ? undefined : bytes / input.size;
    progress.show({ title: 'Reading', count: lines.count, share });
  }
  await refused?.finish();
}

async function* chunksOf({ stream, name }: Input, count: (length: number) => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) {
      count(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

async function openInput(file: string, { console, signal }: CliOptions): Promise<Input> {
  if (file === '-') {
    return { name: 'standard input', stream: addAbortSignal(signal, console.stdin), size: undefined };
  }
  const stream = createReadStream(file, { highWaterMark: READ_SIZE, signal });
  try {
    const [descriptor] = (await once(stream, 'open')) as [number];
    const stats = fstatSync(descriptor);
    return { name: file, stream, size: stats.isFile() && stats.size > 0 ? stats.size : undefined };
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(name: string, error: unknown): CommandError {
  return new CommandError(`cannot read ${name}: ${(error as Error).message}`);
}

function refusedLinesOf(file: string, { skipInvalid, refused }: ImportFlags): RefusedLines | undefined {
  if (!skipInvalid && refused !== undefined) throw new UsageError('--refused goes with --skip-invalid');
  return skipInvalid
    ? new RefusedLines(refused ?? `${file === '-' ? 'import' : file}.refused.ndjson`)
    : undefined;
}

function petLines(newIds: boolean, refused: RefusedLines | undefined): PetLines {
  return new PetLines({
    newIds,
    onRefused(line, reason) {
      if (refused === undefined) throw new CommandError(`line ${line.number}: ${reason}, ${NOTHING}`);
      refused.add(line, reason);
    },
  });
}

async function report(
  count: number,
  elapsed: number,
  refused: RefusedLines | undefined,
  { json }: ImportFlags,
  { console }: CliOptions,
): Promise<void> {
  const skipped = refused?.count ?? 0;
  const refusedFile = skipped > 0 ? refused?.file : undefined;
  const done = `imported ${counted(count, 'animal')}`;
  const text = json
    ? JSON.stringify({ imported: count, skipped, refusedFile, milliseconds: Math.round(elapsed) })
    : `I${done.slice(1)} in ${duration(elapsed)} (${rate(count, elapsed)}).`;
  await printResult(console, `${text}\n`, done);
  if (refusedFile === undefined || json) return;
  console.err(`Left out ${counted(skipped, 'line')}, see ${visible(refusedFile)}\n`);
}
