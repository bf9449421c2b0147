import { once } from 'node:events';
import { petFault } from '../../../domain/pet.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { visible, visibleLines } from '../../../domain/visible.ts';
import { CommandError, isBrokenPipe, UsageError } from '../errors.ts';
import { writeCompressed } from '../files/gzip.ts';
import { OutputFile } from '../files/output-file.ts';
import type { CommandOptions } from '../options.ts';
import { counted, durationAndRate } from '../output/format.ts';
import { Progress } from '../output/progress.ts';
import { type FollowFlags, followPets } from './follow.ts';
import { withStore } from './store.ts';

interface ExportFlags extends FollowFlags {
  readonly output?: string;
  readonly force?: boolean;
  readonly gzip?: boolean;
  readonly follow?: boolean;
}

/** How many pets that break a rule are named. */
const NAMED = 10;

/** Writes each pet as a line of NDJSON. */
export async function exportPets(flags: ExportFlags, options: CommandOptions): Promise<void> {
  if (flags.follow) return followPets(flags, options);
  if (flags.after !== undefined) throw new UsageError('--after requires --follow');
  const { console, databaseUrl, signal } = options;
  const { status, output, force = false } = flags;
  if (force && output === undefined) throw new UsageError('--force requires --output');
  const storeFiles = await options.storeFiles(databaseUrl);
  const file = output === undefined ? undefined : new OutputFile(output, '--output', storeFiles);
  if (!force) file?.refuseExisting('--force replaces it');
  const isOnTerminal = file === undefined && console.outScreen.columns !== undefined;
  const isCompressed = flags.gzip ?? output?.endsWith('.gz') ?? false;
  if (isCompressed && isOnTerminal) {
    throw new UsageError(
      '--gzip: expected --output FILE or a redirection, because standard output is a terminal',
    );
  }
  // A slow reader of standard output must not delay the exit.
  const aborted = once(signal, 'abort').then(() => signal.throwIfAborted());
  aborted.catch(() => {});
  const write = (chunk: string | Buffer): Promise<void> => {
    if (file !== undefined) return file.write(chunk);
    // A terminal must not execute control sequences in the names of pets.
    return Promise.race([aborted, isOnTerminal ? console.out(String(chunk)) : console.outRaw(chunk)]);
  };
  await withStore(options, 'export', async (store) => {
    const progress = new Progress(console);
    let count = 0;
    let invalid = 0;
    const faults: string[] = [];
    const texts = async function* (): AsyncGenerator<string> {
      for await (const pets of store.exportPets({ status }, { signal })) {
        signal.throwIfAborted();
        for (const pet of pets) {
          const fault = petFault(pet);
          if (fault === undefined) continue;
          if (invalid < NAMED) faults.push(`pet ${pet.id}: ${fault}`);
          invalid += 1;
        }
        yield pets.map((pet) => `${petJson(pet)}\n`).join('');
        count += pets.length;
        if (!isOnTerminal) progress.show({ title: 'Exporting', count });
      }
    };
    try {
      if (isCompressed) await writeCompressed(texts(), write);
      else for await (const text of texts()) await write(text);
      await file?.complete();
      await file?.place();
    } catch (error) {
      await file?.discard();
      if (isBrokenPipe(error)) return;
      const outcome = file === undefined ? 'the export is not complete' : 'nothing was exported';
      throw signal.aborted ? new CommandError(`interrupted; ${outcome}`) : error;
    } finally {
      progress.end();
    }
    const place = output === undefined ? '' : ` to ${visible(output)}`;
    console.err(
      `Exported ${counted(count, 'pet')}${place} in ${durationAndRate(count, progress.elapsed)}.\n`,
    );
    if (invalid > 0) {
      const named = invalid > NAMED ? [...faults, 'and more'] : faults;
      const pets = counted(invalid, 'pet');
      console.err(
        `Another program changed ${pets}, which cannot be imported:\n${visibleLines(named.join('\n'))}\n`,
      );
    }
    if (await options.isServer(databaseUrl)) {
      console.err(
        'The pages were read one after the other: pets that were added meanwhile can be among them.\n',
      );
    }
  });
}
