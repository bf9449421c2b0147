/**
 * Finds API keys in texts that must not contain a key: responses, output, logs and errors. A key of the generated form is
 * always found. Any key that a test sends or configures is found as soon as it is registered, also when it is cut off.
 */

import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { API_KEY_PREFIX } from '../../src/domain/api-key.ts';
import { BROKEN_PROMISE } from './retry.ts';

/** The length of the prefix of a key, which may be shown. */
const PREFIX_LENGTH = API_KEY_PREFIX.length + 4;

/** A match of this length is not a coincidence. */
const PIECE_LENGTH = 12;

/** A piece with fewer different characters is not secret: tests send keys such as `xxxxxxxx`. */
const MIN_CHARACTERS = 6;

const GENERATED = /pets_[0-9a-z]{16}|pets%5f[0-9a-z]{16}/i;

/** The places where a command shows the key that it has created: alone on a line, in JSON, or in a curl command. */
const SHOWN = /^ *pets_\w{49}$|"key": ?"pets_\w{49}"|'Authorization: Bearer pets_\w{49}'/gm;

/** A part of a key can be at the end of one chunk, and the rest at the start of the next one. */
const TAIL_LENGTH = 64;

const SENT_KEY = /^authorization: *bearer +([\x21-\x7e]+)\r$/gim;

const keys = new Set<string>();
const pieces = new Set<string>();
const leaks: string[] = [];
let isWatching = false;

/** Returns pieces of the secret part of a key, in lower case. None of them may appear anywhere. */
function piecesOf(key: string): readonly string[] {
  const secret = key.slice(PREFIX_LENGTH).toLowerCase();
  const last = secret.length - PIECE_LENGTH;
  return [0, Math.floor(last / 2), last].map((start) => secret.slice(start, start + PIECE_LENGTH));
}

/** From now on, no text may contain a piece of this key. Keys that are too short or too regular are ignored. */
export function registerKey(key: string): void {
  if (keys.has(key) || key.length < PREFIX_LENGTH + PIECE_LENGTH) return;
  keys.add(key);
  for (const piece of piecesOf(key)) if (new Set(piece).size >= MIN_CHARACTERS) pieces.add(piece);
}

/** Ends the search for registered keys, of which a process that runs many files of tests would have more and more. */
export function forgetKeys(): void {
  keys.clear();
  pieces.clear();
}

/** Registers each key that this process sends, and checks each byte that it receives, from now on. */
export function watchSockets(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe('net.client.socket', (message) => watch((message as { socket: Socket }).socket));
}

/** Throws if a text contains a key. */
export function expectNoKey(text: string, place: string): void {
  const found = keyIn(text);
  if (found !== undefined) throw new Error(leakIn(place, found));
}

/** Throws if the output of a command contains a key, except where it shows the key that it has created. */
export function expectNoKeyInOutput(stdout: string, stderr: string): void {
  expectNoKey(stdout.replace(SHOWN, ''), 'standard output');
  expectNoKey(stderr, 'standard error');
}

/** Returns whether a text contains a key. If so, the running test fails at its end. */
export function noteKeys(text: string, place: string): boolean {
  const found = keyIn(text);
  if (found !== undefined) leaks.push(leakIn(place, found));
  return found !== undefined;
}

/** Throws if a text with a key was recorded. */
export function expectNoNotedKeys(): void {
  const noted = leaks.splice(0);
  if (noted.length > 0) throw new Error(noted.slice(0, 5).join('\n'));
}

function leakIn(place: string, found: string): string {
  return `${place} contains an API key, or a part of one: ${found} (${BROKEN_PROMISE})`;
}

/** Returns the part of a text around the first key. */
function keyIn(text: string): string | undefined {
  const lowered = text.toLowerCase();
  let at = lowered.search(GENERATED);
  for (const piece of pieces) {
    if (at !== -1) break;
    at = lowered.indexOf(piece);
  }
  return at === -1 ? undefined : JSON.stringify(text.slice(Math.max(0, at - 60), at + 80));
}

function watch(socket: Socket): void {
  watchRead(socket);
  // `net.connect` sets `write` after this call.
  queueMicrotask(() => watchWritten(socket));
}

/** `push` receives each chunk that the socket reads. */
function watchRead(socket: Socket): void {
  const { push } = socket;
  let tail = '';
  socket.push = (chunk, encoding) => {
    if (chunk !== null) {
      const text = tail + textOf(chunk);
      tail = noteKeys(text, 'a response') ? '' : text.slice(-TAIL_LENGTH);
    }
    return push.call(socket, chunk, encoding);
  };
}

function watchWritten(socket: Socket): void {
  const write = socket.write as (...args: unknown[]) => boolean;
  socket.write = (...args: unknown[]) => {
    for (const [, key = ''] of textOf(args[0]).matchAll(SENT_KEY)) registerKey(key);
    return write.apply(socket, args);
  };
}

function textOf(chunk: unknown): string {
  return typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('latin1');
}
