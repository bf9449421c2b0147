/** The rules for the responses to one message, whose requests are known. */

import { checked } from '../../support/answer-checks.ts';
import { noteKeys } from '../../support/canary.ts';
import { answerOf, pathOf } from '../../support/client.ts';
import { wholeJson } from '../../support/pets.ts';
import { fieldOf, isClosing, quote, type Response } from '../../support/response-reader.ts';
import { BROKEN_PROMISE } from '../../support/retry.ts';
import type { Exchange } from '../client/exchange.ts';
import type { Message } from '../messages/message.ts';
import { PROTECTED_NAME, type Request, SMUGGLED } from '../messages/request.ts';

/** The paths that need no key. */
const PUBLIC_PATH = /^\/(livez|readyz|openapi\.json|docs|docs\/.*)$/;

/** The statuses with which a server refuses a malformed message. It also closes the connection. */
const REFUSALS = [400, 408, 413, 431];

/** Describes every fault of an exchange. */
export function judge(message: Message, exchange: Exchange): string[] {
  const { responses, fault, rest, end } = exchange;
  const wasWhole = message.delivery.ending === 'wait';
  const faults: (string | false | undefined)[] = [
    end === 'hung' && 'the connection was left open',
    fault !== undefined && `no HTTP: ${fault}`,
    wasWhole && rest.length > 0 && `bytes behind the last response: ${quote(rest.toString('latin1'))}`,
    wasWhole && message.isComplete && missing(message, exchange),
  ];
  responses.forEach((response, index) => {
    const request = message.requests[index];
    faults.push(undocumented(response, request), secretIn(response), hidden(response));
    faults.push(
      request === undefined ? surplus(response) : unlike(response, request, wasWhole && message.isComplete),
    );
  });
  return faults.filter((text) => typeof text === 'string');
}

/** Each request of a complete message gets a response, unless an earlier response closed the connection. */
function missing({ requests }: Message, { responses, end, isInStep }: Exchange): string | false {
  if (responses.some(isClosing)) return false;
  if (responses.length < requests.length)
    return `${responses.length} of ${requests.length} responses, then ${end}`;
  return !isInStep && `the next request on the connection got no response, but ${end}`;
}

/** What every test of the API expects of every response. The server may not know the request of a malformed message. */
function undocumented(response: Response, request: Request | undefined): string | false {
  const { status, fields, body } = response;
  if (status >= 500) return `the status ${status}`;
  const answer = answerOf(status, fields, body.toString());
  const unknown = { method: '', target: '' };
  const { method, target } = request ?? unknown;
  const possible = [{ method, target }];
  if (REFUSALS.includes(status)) possible.push({ method, target: '' }, unknown);
  const faults = possible.map((asked) => {
    try {
      checked(answer, asked);
      return false;
    } catch (error) {
      return String(error);
    }
  });
  return faults.includes(false) ? false : (faults[0] as string);
}

function secretIn({ head, body }: Response): string | false {
  return noteKeys(`${head} ${body}`, 'a response') && `an API key in a response (${BROKEN_PROMISE})`;
}

function hidden(response: Response): string | false {
  return (fieldOf(response, 'x-request-id') ?? '').startsWith(SMUGGLED) && 'a smuggled request ran';
}

/** Only garbage follows the requests. */
function surplus(response: Response): string | false {
  const isRefusal = REFUSALS.includes(response.status) && isClosing(response);
  return !isRefusal && `a response to no request: ${quote(response.head)}`;
}

function unlike(response: Response, request: Request, isJudged: boolean): string | false {
  const { status, body } = response;
  const { expected, hasGoodKey } = request;
  if (isJudged && expected !== undefined && !expected.includes(status)) {
    return `${request.method} ${request.target.slice(0, 80)}: expected ${expected.join(' or ')}, got ${status} ${quote(body.toString())}`;
  }
  if (status === 201) return unlikePet(response, request);
  return !hasGoodKey && toStranger(response, request);
}

/** Without a key, the API reveals only that a key is required. */
function toStranger(response: Response, { method, target }: Request): string | false {
  const { status, body } = response;
  if (body.includes(PROTECTED_NAME)) return 'pets for somebody without a key';
  const path = pathOf(target);
  const isRefusal = status === 401 || (REFUSALS.includes(status) && isClosing(response));
  if (/^\/v1(\/|$)/.test(path) && method !== 'CONNECT' && !isRefusal)
    return `${status} without a key for ${quote(target)}`;
  const isOpen = PUBLIC_PATH.test(path) || method === 'OPTIONS' || status >= 400;
  return !isOpen && `${status} without a key for ${quote(target)}`;
}

function unlikePet(response: Response, { method, hasGoodKey, pet }: Request): string | false {
  if (method !== 'POST' || !hasGoodKey) return `a 201 for ${method} ${hasGoodKey ? 'with' : 'without'} a key`;
  const text = response.body.toString();
  const id = /^\{"id":([1-9]\d*),/.exec(text)?.[1];
  if (fieldOf(response, 'location') !== `/v1/pets/${id}`) return `the Location of ${quote(text)}`;
  if (pet === undefined) return false;
  const { name, categoryId, status } = pet;
  const members = `"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"`;
  const right = wholeJson(`{"id":${id},${members}}`);
  return text !== right && `expected ${quote(right)}, got ${quote(text)}`;
}
