/** The samples of a request, in each language. JavaScript has two: with the client of the package, and with `fetch`. */

import { curlSample } from './curl.ts';
import { fetchSample } from './fetch.ts';
import { type GoOptions, goSample } from './go.ts';
import { javaScriptSample } from './javascript.ts';
import { pythonSample } from './python.ts';
import type { SampleRequest } from './request.ts';

export type Language = 'JavaScript' | 'curl' | 'fetch' | 'Python' | 'Go';

export const SAMPLES: Readonly<Record<Language, (request: SampleRequest, options: GoOptions) => string>> = {
  curl: curlSample,
  JavaScript: javaScriptSample,
  fetch: fetchSample,
  Python: pythonSample,
  Go: goSample,
};

export const LANGUAGES: readonly Language[] = Object.keys(SAMPLES) as Language[];
