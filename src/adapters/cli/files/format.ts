import { CommandError } from '../errors.ts';

/** What a file can be instead of NDJSON, by its first bytes in Latin-1, and what to do with it. */
const OTHERS: readonly (readonly [(head: string) => boolean, string])[] = [
  ...(
    [
      ['PK\u0003\u0004', 'a zip archive: extract the file'],
      ['BZh', 'data that bzip2 has compressed: decompress the file'],
      ['\xfd7zXZ', 'data that xz has compressed: decompress the file'],
      ['\x28\xb5\x2f\xfd', 'data that zstd has compressed: decompress the file'],
      ['SQLite format 3', 'a SQLite database: animal-store restore accepts a backup'],
      ['PGDMP', 'a dump of PostgreSQL: pg_restore accepts it'],
      ['<', 'a page of HTML or XML, such as the error of a proxy'],
    ] as const
  ).map(([start, other]) => [(head: string) => head.startsWith(start), other] as const),
  [
    (head) => /^(?:\xff\xfe|\xfe\xff)/.test(head) || [...head.slice(0, 2)].includes('\0'),
    'a text in UTF-16: convert the file to UTF-8',
  ],
  [
    (head) => /^(?:\xef\xbb\xbf)?\s*\[\s*(?:\{|$)/.test(head),
    'an array: write each pet on a line of its own, without commas between them',
  ],
];

const HEAD_SIZE = 100;

/** Yields the chunks of a file. Throws before the first one if the file has a format other than NDJSON that is recognized. */
export async function* ndjsonChunks(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of chunks) {
    const head = isFirst ? Buffer.from(chunk.subarray(0, HEAD_SIZE)).toString('latin1') : '';
    isFirst &&= chunk.length === 0;
    const other = head === '' ? undefined : OTHERS.find(([isOther]) => isOther(head))?.[1];
    if (other !== undefined)
      throw new CommandError(`${name}: expected one pet in JSON per line, got ${other}`);
    yield chunk;
  }
}
