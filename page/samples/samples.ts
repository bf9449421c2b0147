/** The samples of a request, in each language. */

import { curlSample } from './curl.ts';
import { type GoOptions, goSample } from './go.ts';
import { javaScriptSample } from './javascript.ts';
import { pythonSample } from './python.ts';
import type { SampleRequest } from './request.ts';

export type Language = 'curl' | 'JavaScript' | 'Python' | 'Go';

export const SAMPLES: Readonly<Record<Language, (request: SampleRequest, options: GoOptions) => string>> = {
  curl: curlSample,
  JavaScript: javaScriptSample,
  Python: pythonSample,
  Go: goSample,
};
