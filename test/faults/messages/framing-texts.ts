/** Valid and invalid parts of the framing of a message. */

export const EXTENSIONS: readonly string[] = [';x', ';x=y', ';x="y"', ';x="y z"', ';a=b;c=d', ';x="\\""'];
export const BROKEN_EXTENSIONS: readonly string[] = [
  ';',
  ' ;x',
  ';x y',
  ';=',
  ';x="',
  ' ',
  ';x\n',
  ';x\r',
  ';\0',
  ';\xff',
  ';x="\r\n"',
  ',x',
];
export const TRAILERS: readonly string[] = ['X: y\r\n', 'X: y\r\nZ: a\r\n', 'Content-Type: text/plain\r\n'];
export const BROKEN_TRAILERS: readonly string[] = [
  'X\r\n',
  ': x\r\n',
  'X Y: z\r\n',
  'X: a\0b\r\n',
  ' X: y\r\n',
  'X: y\n',
  `X: ${'y'.repeat(20_000)}\r\n`,
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Host: y\r\n',
  'Authorization: Bearer x\r\n',
];
/** A server may wait for a chunk of this size. */
export const LARGEST_SIZE: string = 'f'.repeat(16);
export const BAD_SIZES: readonly string[] = [
  LARGEST_SIZE,
  '',
  ' ',
  '-1',
  '+5',
  '0x5',
  'g',
  '5 5',
  'fffffffffffffffff',
  '1'.repeat(5000),
  '\xb2',
  '5,',
  '"5"',
  '\t5',
  '5h',
];
export const BAD_LENGTHS: readonly string[] = [
  '',
  '-1',
  '-0',
  'five',
  '0x',
  '1 1',
  '1,2',
  '99999999999999999999999',
  '18446744073709551616',
  '\xb2',
  'NaN',
  '1e',
  ';',
  '\0',
];
