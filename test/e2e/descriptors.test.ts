/** A service that may open no more files, as when clients have taken all its descriptors, over a connection it has. */

import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { DOCS_ASSETS } from '../../src/adapters/http/docs.ts';
import { Connection } from '../support/connection.ts';
import { OPERATOR_KEY, type Service, startService } from '../support/process.ts';

const canLimit = spawnSync('prlimit', ['--version']).status === 0;

/** Every new descriptor is refused from now on, as when all of them are taken; those that are open stay. */
function takeDescriptors({ child }: Service): void {
  execFileSync('prlimit', ['--pid', String(child.pid), '--nofile=1:']);
}

test.skipIf(!canLimit).each(['memory:', 'sqlite:pets.db'])(
  'has every page and document that was never asked for before, on %s',
  async (DATABASE_URL) => {
    const service = await startService({ env: { DATABASE_URL, API_KEYS: OPERATOR_KEY } });
    const connection = await Connection.open(service.origin);
    const ask = (requestLine: string, fields = '') => {
      const authorization = `Authorization: Bearer ${OPERATOR_KEY}\r\n`;
      connection.write(`${requestLine} HTTP/1.1\r\nHost: x\r\n${authorization}${fields}\r\n`);
      return connection.next();
    };
    expect(await ask('GET /readyz')).toMatchObject({ status: 200 });
    takeDescriptors(service);
    for (const target of ['/openapi.json', ...DOCS_ASSETS.map(({ path }) => path), '/readyz', '/v1/pets']) {
      expect(await ask(`HEAD ${target}`, 'Accept-Encoding: gzip\r\n'), target).toMatchObject({ status: 200 });
      expect(await ask(`GET ${target}`), target).toMatchObject({ status: 200 });
    }
    expect(await ask('GET /nothing')).toMatchObject({ status: 404 });
    expect(service.out.stderr).not.toContain('request failed');
    connection.destroy();
  },
);
