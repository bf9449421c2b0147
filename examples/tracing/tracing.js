/**
 * Traces of the server with OpenTelemetry's own instrumentations, from the HTTP request to the SQL statements of PostgreSQL:
 *
 *   npm install @opentelemetry/api @opentelemetry/core @opentelemetry/sdk-node \
 *     @opentelemetry/instrumentation-{http,koa,pg,pino} import-in-the-middle
 *   export OTEL_SERVICE_NAME=animal-store OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318
 *   NODE_OPTIONS="--import=$PWD/tracing.js" npx animal-store serve
 */

import { register } from 'node:module';
import { context } from '@opentelemetry/api';
import { getRPCMetadata } from '@opentelemetry/core';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { KoaInstrumentation } from '@opentelemetry/instrumentation-koa';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { PinoInstrumentation } from '@opentelemetry/instrumentation-pino';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { register as registerHooks, supportsSyncHooks } from 'import-in-the-middle/register-hooks.mjs';

// The instrumentations need a hook to replace the imports of the server's ES modules.
const include = ['http', 'node:http', 'koa', 'pg', 'pino'];
if (supportsSyncHooks()) registerHooks({ include });
else register('import-in-the-middle/hook.mjs', import.meta.url, { data: { include } });

/** Names the route on `finish`, because this hook runs before the router. The HTTP instrumentation reads the name afterwards. */
function nameRoute(_span, { context: ctx }) {
  const request = getRPCMetadata(context.active());
  if (request === undefined) return;
  ctx.res.once('finish', () => {
    request.route ??= ctx.matched?.[0]?.name;
  });
}

const sdk = new NodeSDK({
  instrumentations: [
    new HttpInstrumentation(),
    new KoaInstrumentation({ requestHook: nameRoute }),
    new PgInstrumentation({ requireParentSpan: true }),
    new PinoInstrumentation({ disableLogSending: true }),
  ],
});
sdk.start();
