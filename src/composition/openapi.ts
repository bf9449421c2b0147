import type { Config } from './config.ts';

/** The OpenAPI document of the service as it is configured, as JSON with line breaks. Nothing has to run for it. */
export async function openApiDocumentOf({ publicUrl, host, port }: Config): Promise<string> {
  const { openApiDocument } = await import('../adapters/http/openapi.ts');
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return openApiDocument(publicUrl ?? `http://${authority}`, { indent: 2 });
}
