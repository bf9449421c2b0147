/** Implements the storage ports over the HTTP API of another server, on every JavaScript platform that has `fetch`. */

export { openApiStorage } from './storage.ts';
