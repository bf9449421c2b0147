import type { Config } from './config.ts';

/** Returns the OpenAPI document of a server with this configuration, as indented JSON. Does not start a server. */
export async function openApiDocumentOf({ publicUrl, host, port }: Config): Promise<string> {
  const { openApiDocument } = await import('../adapters/http/index.ts');
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return openApiDocument(publicUrl ?? `http://${authority}`, { indent: 2 });
}
