/** The traces of the built server with examples/tracing, on PostgreSQL, received by a collector of the test. */

import { copyFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { linesOf } from '../support/log-streams.ts';
import { withRequired } from '../support/pets.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import { OPERATOR_KEY, startService, temporaryFolder } from '../support/process.ts';
import { KIND, Receiver } from './receiver.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';

/** The example finds its packages as it would beside an installed server. */
function preloaded(): string {
  const folder = temporaryFolder();
  copyFileSync(join(import.meta.dirname, '../../examples/tracing/tracing.js'), join(folder, 'tracing.js'));
  symlinkSync(join(import.meta.dirname, 'node_modules'), join(folder, 'node_modules'));
  return pathToFileURL(join(folder, 'tracing.js')).href;
}

test.skipIf(!canRunPostgres)(
  `one trace leads from the request to its SQL statements, with the route${postgresNote}`,
  async () => {
    const receiver = await Receiver.start();
    const { client, out } = await startService({
      nodeArgs: ['--import', preloaded()],
      env: {
        DATABASE_URL: await newDatabaseUrl(),
        API_KEYS: OPERATOR_KEY,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
    });
    const headers = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` };
    const created = await client.post(withRequired({ name: 'canary-pet-name', categoryId: 1 }), headers);
    expect(created.status).toBe(201);
    const serverSpan = () =>
      receiver.spans.find(({ kind, traceId }) => kind === KIND.server && traceId === TRACE_ID);
    await expect.poll(serverSpan).toMatchObject({
      name: 'POST /v1/pets',
      parentSpanId: PARENT_ID,
      attributes: { 'http.route': '/v1/pets', 'http.response.status_code': 201 },
    });

    const ofTrace = () => receiver.spans.filter(({ traceId }) => traceId === TRACE_ID);
    const byId = () => new Map(ofTrace().map((span) => [span.spanId, span]));
    const statement = () => ofTrace().find(({ scope, name }) => /-pg$/.test(scope) && /query/.test(name));
    await expect.poll(statement).toMatchObject({ kind: KIND.client });
    expect(ofTrace().some(({ scope }) => /-koa$/.test(scope))).toBe(true);
    // Its ancestors lead to the span of the request.
    let span = statement();
    while (span !== undefined && span.kind !== KIND.server) span = byId().get(span.parentSpanId ?? '');
    expect(span).toBe(serverSpan());

    const exported = receiver.messages.join('');
    for (const secret of [OPERATOR_KEY, 'canary-pet-name']) expect(exported).not.toContain(secret);
    // The instrumentation of pino adds the ids to the lines of the log.
    const line = linesOf(out.stderr.replaceAll(/^[^{].*\n/gm, '')).find(({ status }) => status === 201);
    expect(line).toMatchObject({ route: '/v1/pets', trace_id: TRACE_ID });
  },
);
