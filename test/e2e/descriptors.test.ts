/** Tests, on an open connection, a service that can open no more files, as when all its file descriptors are in use. */

import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { DOCS_ASSETS } from '../../src/adapters/http/docs/assets.ts';
import { Connection } from '../support/connection.ts';
import { OPERATOR_KEY, type Service, startService } from '../support/process.ts';

const canLimit = spawnSync('prlimit', ['--version']).status === 0;

/** Makes the service fail to open new file descriptors. Its open file descriptors remain usable. */
function takeDescriptors({ child }: Service): void {
  execFileSync('prlimit', ['--pid', String(child.pid), '--nofile=1:']);
}

test.skipIf(!canLimit)(
  'pages and documents are served for the first time without free file descriptors',
  async () => {
    const service = await startService({ env: { API_KEYS: OPERATOR_KEY } });
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
