import { type TracerProvider, trace } from '@opentelemetry/api';

/** How long the exit of the process may be delayed by an export, in milliseconds. */
const FLUSH_TIMEOUT = 1000;

/** A provider of an SDK. The API of OpenTelemetry does not have the method `forceFlush`. */
interface SdkProvider extends TracerProvider {
  getDelegate?(): SdkProvider;
  forceFlush?(): Promise<void>;
}

/** Exports the spans that have ended. Resolves when they are exported, or after {@link FLUSH_TIMEOUT}. Never rejects. */
export async function flushSpans(): Promise<void> {
  const provider: SdkProvider = trace.getTracerProvider();
  const sdk = provider.getDelegate?.() ?? provider;
  await Promise.race([Promise.resolve(sdk.forceFlush?.()).catch(() => {}), timeout()]);
}

function timeout(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, FLUSH_TIMEOUT));
}
