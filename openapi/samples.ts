/** The samples in the description of the API: the programs in the folder `examples`, complete, one for each language. */

import { readFileSync } from 'node:fs';

/** The programs, and the languages that Markdown and the reference page call them by. */
const PROGRAMS = {
  'curl.sh': 'sh',
  'animal-store-client.js': 'js',
  'client.js': 'js fetch',
  'client.py': 'python',
  'client.go': 'go',
};

/** What a sample shows. A program marks the parts that only one of the samples needs as a region with this name. */
export type Region = 'create' | 'list';

const REGION = /^[ \t]*(?:#|\/\/) region (\w+)\n+(.*?)\s*^[ \t]*(?:#|\/\/) endregion\n(\n*)/gms;

/** Returns each program without the parts that only another sample needs, in Markdown. */
export function samplesOf(region: Region): string {
  return samples('', (program) => programOf(program, region));
}

/** Returns the programs that follow the pets, in Markdown. */
export function followSamples(): string {
  return samples('follow/', (program) => program.trim());
}

function samples(folder: string, partOf: (program: string) => string): string {
  const blocks = Object.entries(PROGRAMS).map(([file, language]) => {
    const program = readFileSync(new URL(`../examples/${folder}${file}`, import.meta.url), 'utf8');
    return `\`\`\`${language}\n${partOf(program)}\n\`\`\``;
  });
  return blocks.join('\n\n');
}

/** Removes the marks of the regions, and the regions with another name. */
export function programOf(program: string, region: Region): string {
  return program
    .replace(REGION, (_match, name: string, code: string, blankLines: string) =>
      name === region ? `${code}\n${blankLines}` : '',
    )
    .trim();
}
