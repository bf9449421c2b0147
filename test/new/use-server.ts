/** Uses the server of a new project as its first user would. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { namesOf } from '../../scripts/new/names.ts';

/** Starts the server, and creates, changes, removes and follows one record by the examples of its own document. */
export async function useServer(folder: string, entity: string): Promise<void> {
  const env = { ...process.env, PORT: '0', DATABASE_URL: `sqlite:${folder}/try.db` };
  const server = spawn('npm', ['start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    printed += text;
    if (/ curl /.test(printed)) break;
  }
  try {
    const base = /^Listening on (\S+)$/m.exec(printed)?.[1] ?? '';
    const headers = { Authorization: `Bearer ${/\w+_[0-9A-Za-z]{49}/.exec(printed)?.[0]}`, 'If-Match': '*' };
    const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const response = await fetch(`${base}${path}`, { method, headers: { ...headers, ...type }, ...sent });
      const text = await response.text();
      return { status: response.status, value: text === '' ? undefined : JSON.parse(text) };
    };
    const { paths } = (await (await fetch(new URL('/openapi.json', base))).json()) as Document;
    const records = `/${namesOf({ entity }).plural.join('-')}`;
    const [one = '', feed = ''] = [/\{/, /^\/[^{]*$/].map((form) =>
      Object.keys(paths).find((path) => path !== records && form.test(path)),
    );
    const example = (path: string, method: string) =>
      Object.values(paths[path]?.[method]?.requestBody?.content['application/json']?.examples ?? {})[0]
        ?.value;
    const statuses = [
      await call('POST', records, example(records, 'post')),
      await call('PATCH', `${records}/1`, example(one, 'patch')),
      await call('GET', `${records}/1`),
      await call('DELETE', `${records}/1`),
      await call('GET', feed),
    ];
    const [, changed, read, , followed] = statuses.map(({ value }) => value);
    const found = JSON.stringify([statuses.map(({ status }) => status), followed]);
    if (!/^\[\[201,200,200,204,200\],\[\{"cursor":"[^"]+","removed":1\}\]\]$/.test(found))
      throw new Error(found);
    if (JSON.stringify(changed) !== JSON.stringify(read)) throw new Error('a change is not read');
  } finally {
    server.kill('SIGTERM');
    await once(server, 'close');
  }
}

interface Answer {
  readonly status: number;
  readonly value: unknown;
}

type Examples = Record<string, { value: unknown }>;

interface Document {
  readonly paths: Record<
    string,
    Record<string, { requestBody?: { content: Record<string, { examples?: Examples }> } }>
  >;
}
