import type { RunningService } from '../options.ts';

/**
 * Returns what the start of a server says about API keys: the first key, which is never shown again, or the path of its
 * file, or, if the server accepts only keys that were created earlier, how to create another key.
 */
export function keyNotice({ url, firstKey, firstKeyFile, hasConfiguredKeys }: RunningService): string {
  if (firstKey !== undefined) return welcome(url, firstKey.key);
  if (firstKeyFile !== undefined) return `The first API key is in the file ${firstKeyFile}\n`;
  if (hasConfiguredKeys) return '';
  return 'To create another API key for this database: npx animal-store keys create --name NAME\n';
}

function welcome(url: string, key: string): string {
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  const create = `curl -sS -w '\\n' ${authorization} -H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":7}' ${url}/pets`;
  return `
The store had no API key, so this one was created. Save it: it is not shown again.

  ${key}

Create a pet, then list all pets:

  ${create} && curl -sS -w '\\n' ${authorization} ${url}/pets

`;
}
