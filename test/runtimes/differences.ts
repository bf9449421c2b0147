/** What is different on a runtime, by the tests of the API that fail there. docs/runtimes.md describes each difference. */

import type { Suite } from './suite.ts';

export interface Difference {
  /** Matches the path of the file, the names of its groups and the name of the test. */
  readonly tests: RegExp;
  readonly reason: string;
  /** Whether the tests can also pass. */
  readonly isRare?: boolean;
}

const OF_BOTH: readonly Difference[] = [
  {
    tests: /body.* Expect is refused without a 100/,
    reason: 'the server sends 100 before the handler is called, or although the body is not read',
  },
  {
    tests: /incoming-bodies.* HTTP\/1\.0 that expects 100/,
    reason: 'a client of HTTP/1.0 gets an interim response, or a response of HTTP/1.0',
  },
  {
    tests: /request-log.* (each message that is not HTTP|that a trusted proxy names, in every line)/,
    reason: 'the server itself responds to invalid messages, with an empty body',
  },
  {
    tests: /overload.* while the server is too busy, repeated responses on a connection/,
    reason: 'a server that stops closes idle connections at once',
    isRare: true,
  },
  {
    tests: /openapi-document.* the example of every error/,
    reason: 'the server itself responds to invalid messages, with an empty body',
  },
  {
    tests: /public-paths.* the server counts its connections/,
    reason: 'the server of the tests counts no connections',
  },
];

const WARNING: Difference = {
  tests: /serve.* logs in JSON lines/,
  reason: 'the start logs a warning',
};

/** What the server of a runtime decides itself about messages. */
const MESSAGES: readonly Difference[] = [
  {
    tests:
      /messages\.faults.* seed \d+ (request lines|header fields|keys|framing|smuggled requests|other protocols|\d+ ways)/,
    reason: 'the server itself responds to invalid messages, with an empty body',
  },
  {
    tests: /messages\.faults.* most messages are broken/,
    reason: 'only responses as those on Node.js are counted',
  },
];

export const DIFFERENCES: Readonly<Record<'bun' | 'deno', Readonly<Record<Suite, readonly Difference[]>>>> = {
  bun: {
    api: [
      ...OF_BOTH,
      {
        tests: /body.* of 10 MB gets a \d+/,
        reason:
          'the server itself refuses such a body, and resets the connection while the client still sends',
      },
      {
        tests: /body.* that ends early stores nothing/,
        reason: 'a client that ends its side before the body is complete gets no response',
      },
      { tests: /body.* 100-Continue gets its 100/, reason: 'Expect is case-sensitive' },
      {
        tests: /(openapi-document.* 200 requests in one write|overload.* before the server is too busy)/,
        reason: 'requests in one pipeline get no responses',
      },
      {
        tests: /overload.* only health checks are served/,
        reason: 'the client of Bun for node:http uses a closed connection again',
      },
    ],
    command: [WARNING],
    server: [
      ...MESSAGES,
      {
        tests: /messages\.faults.* seed \d+ pipelines/,
        reason: 'requests in one pipeline get no responses',
      },
      {
        tests: /messages\.faults.* cut in two at every byte/,
        reason: 'a chunk with an extension is refused',
      },
      {
        tests: /messages\.faults.* closes its side at every byte/,
        reason: 'a client that ends its side before the body is complete gets no response',
      },
      {
        tests: /messages\.faults.* every acknowledged pet is stored exactly/,
        reason:
          'a create in a pipeline, or with invalid trailers, is stored although it gets no 201, and what follows CONNECT is a request',
      },
      {
        tests: /unread\.faults.* the oldest connections are closed/,
        reason: 'the server does not limit unread responses',
      },
    ],
  },
  deno: {
    api: [
      ...OF_BOTH,
      {
        tests: /fetch\.test.* (has aborted is reported|not delayed any longer)/,
        reason: 'the signal of a request is not read',
      },
      { tests: /request-log.* marked as aborted/, reason: 'the signal of a request is not read' },
      {
        tests: /get\.test.* decided before the path is matched/,
        reason: 'a repeated Host gets an empty response',
      },
      {
        tests: /incoming-bodies.* 1,001 stalled creates/,
        reason: 'requests of different connections need not be handled in the order of their arrival',
        isRare: true,
      },
      {
        tests: /overload.* a create is refused before its body is read/,
        reason: 'the signal of a request is not read',
      },
      {
        tests: /public-paths.* with two lines of it and with HTTP\/1\.0/,
        reason: 'a client of HTTP/1.0 gets a response of HTTP/1.0',
      },
    ],
    command: [
      WARNING,
      {
        tests: /serve.* on SIGTERM completes requests in flight/,
        reason: 'the server listens until the bodies of the requests in flight have arrived',
      },
      {
        tests: /stopping\.faults.* SIGTERM under load breaks no request/,
        reason:
          'on a busy machine, a connection can be waiting to be accepted when the server stops listening',
        isRare: true,
      },
      {
        tests: /disk\.faults.* a disk becomes read-only/,
        reason: 'node:fs does not tell whether a file system is read-only',
      },
      {
        tests: /disk\.faults.* a disk accepts no more bytes/,
        reason: 'the limit of the file size ends the process',
      },
      {
        tests: /cli-output.* a full device makes a command fail/,
        reason: 'the error of standard output has no code',
      },
      {
        tests: /cli-output.* does not affect an import that writes only its progress/,
        reason: 'a failed write to standard error is an error of the process',
      },
    ],
    server: [
      ...MESSAGES,
      {
        tests: /messages\.faults.* seed \d+ pipelines/,
        reason:
          'the server itself responds to a pipeline that ends in an invalid message, with an empty body',
      },
      {
        tests: /connections\.faults.* whose request head does not arrive/,
        reason: 'the server does not limit the time of a request head',
      },
      {
        tests: /unread\.faults.* (the oldest connections are closed|at most \d+ MB)/,
        reason: 'the server does not limit unread responses',
      },
    ],
  },
};
