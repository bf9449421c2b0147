import type { CliOptions } from './options.ts';

/** Prints the OpenAPI document, for tools that generate clients or mocks. */
export async function openapi({ console, openApiDocument }: CliOptions): Promise<void> {
  await console.out(`${await openApiDocument()}\n`);
}
