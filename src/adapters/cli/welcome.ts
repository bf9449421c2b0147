/** What the start of a server says about API keys. */

export const ANOTHER_KEY =
  'To create another API key for this database: npx animal-store keys create --name NAME\n';

/** Returns the text that shows the first key, which is never shown again. */
export function welcome(url: string, key: string): string {
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  const create = `curl -sS -w '\\n' ${authorization} -H 'Content-Type: application/json' -d '{"name":"Rex","categoryId":7}' ${url}/pets`;
  return `
The store had no API key, so this one was created. Save it: it is not shown again.

  ${key}

Create a pet, then list all pets:

  ${create} && curl -sS -w '\\n' ${authorization} ${url}/pets

`;
}
