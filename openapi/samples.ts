/** The samples in the description of the API: regions of the programs in the folder `examples`. */

import { readFileSync } from 'node:fs';

/** The programs, and the languages that Markdown and the reference page call them by. */
const PROGRAMS = { 'curl.sh': 'sh', 'client.js': 'js', 'client.py': 'python', 'client.go': 'go' };

/** Returns the region of each program, in Markdown. */
export function samplesOf(region: 'pages' | 'retries'): string {
  const blocks = Object.entries(PROGRAMS).map(([file, language]) => {
    const program = readFileSync(new URL(`../examples/${file}`, import.meta.url), 'utf8');
    const start = `^( *)(?:#|//) region ${region}\n`;
    const match = new RegExp(`${start}(.*?)^ *(?:#|//) endregion$`, 'ms').exec(program);
    if (match === null) throw new Error(`examples/${file} has no region "${region}"`);
    const [, indentation, code = ''] = match;
    return `\`\`\`${language}\n${code.replaceAll(new RegExp(`^${indentation}`, 'gm'), '').trim()}\n\`\`\``;
  });
  return blocks.join('\n\n');
}
