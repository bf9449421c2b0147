import type { CliOptions } from './options.ts';

/** Gives the OpenAPI document as JSON. */
export type OpenApiDocument = () => Promise<string>;

/** Prints the document, for those who make clients or mocks from it. */
export async function openapi({ console, openApiDocument }: CliOptions): Promise<void> {
  await console.out(`${await openApiDocument()}\n`);
}
