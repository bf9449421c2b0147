import { expect, test } from 'vitest';
import { wrapComments } from '../../scripts/new/comments.ts';

const SENTENCE = 'A work machine has a name that is longer than the one before. ';
const LONG = SENTENCE.repeat(3).trim();

test.each([
  ['a comment of one line', `  /** ${LONG} */`, '  /**\n   * ', '\n   */'],
  [
    'a paragraph',
    `/**\n * ${LONG}\n * Another line.\n *\n * Short.\n */`,
    '/**\n * ',
    '\n *\n * Short.\n */',
  ],
  ['a comment in a function', `  // ${LONG}\n  f();`, '  // ', '\n  f();'],
])('%s is wrapped, and has the same words', (_, text, start, end) => {
  const wrapped = wrapComments(text);
  const wordsOf = (each: string) => each.split(/[\s*/]+/).join(' ');
  expect(wordsOf(wrapped)).toBe(wordsOf(text));
  expect(wrapped.startsWith(start) && wrapped.endsWith(end)).toBe(true);
  for (const line of wrapped.split('\n')) expect(line.length).toBeLessThanOrEqual(132);
  expect(wrapComments(wrapped)).toBe(wrapped);
});

test('a line ends neither in a link nor in code, nor before what looks like a list', () => {
  const text = `/** ${SENTENCE.repeat(2)}{@link WorkMachine} \`a b\` - 1. */`;
  const lines = [SENTENCE.repeat(2).trim(), '{@link WorkMachine} `a b` - 1.'];
  expect(wrapComments(text)).toBe(`/**\n * ${lines.join('\n * ')}\n */`);
});

test.each([
  `/**\n * @example\n * \`\`\`ts\n * f('${LONG}');\n * \`\`\`\n */`,
  `/**\n * - ${LONG}\n */`,
  `const text = '${LONG}';`,
  `/** Short. */\n// ${SENTENCE}\n// ${SENTENCE}`,
])('%j stays', (text) => {
  expect(wrapComments(text)).toBe(text);
});
