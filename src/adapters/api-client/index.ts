/** The storage ports over the HTTP API of another server, for every JavaScript platform that has `fetch`. */

export { openApiStorage } from './storage.ts';
