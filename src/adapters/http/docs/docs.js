/** The reference page: Swagger UI over the OpenAPI document beside it, light or dark as the reader has it. */

import { formatJson, parseDocument } from './exact-integers.js';

const { SwaggerUIBundle } = window;

/** Seen from the page, whatever the path is that it is served under. */
const documentUrl = new URL('openapi.json', location.href);
const apiUrl = new URL('v1', location.href);

const dark = matchMedia('(prefers-color-scheme: dark)');
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followTheme);
followTheme();

for (const url of document.querySelectorAll('[data-api-url]')) url.textContent = apiUrl.href;

/** What Swagger UI leaves without a name that a screen reader could say, or out of the keyboard's reach. */
const NAMES = {
  '.examples-select-element': () => 'Example',
  '.body-param__text': () => 'Request body',
  '.close-modal': () => 'Close',
  '.modal-ux button[type=submit]': (button) => button.textContent,
  '[data-param-name] select': (select) => select.closest('[data-param-name]').dataset.paramName,
};

function nameControls() {
  for (const [selector, nameOf] of Object.entries(NAMES)) {
    for (const control of reference.querySelectorAll(selector))
      control.setAttribute('aria-label', nameOf(control));
  }
  for (const code of reference.querySelectorAll('.microlight')) code.tabIndex = 0;
}

const reference = document.querySelector('#reference');
new MutationObserver(nameControls).observe(reference, { childList: true, subtree: true });

/** Reads the document exactly, and tries operations where the page is, which is all that its policy lets it reach. */
const exactDocument = {
  statePlugins: {
    spec: {
      wrapActions: {
        parseToJson:
          (_parse, { specActions }) =>
          (text) =>
            specActions.updateJsonSpec({ ...parseDocument(text), servers: [{ url: apiUrl.href }] }),
      },
    },
  },
};

const exactAnswers = ({ React, getComponent }) => ({
  wrapComponents: {
    responseBody: (ResponseBody) => (props) => {
      const shown = shownJson(props);
      if (shown === undefined) return React.createElement(ResponseBody, props);
      const HighlightCode = getComponent('HighlightCode', true);
      const code = { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true };
      return React.createElement(
        'div',
        null,
        React.createElement('h5', null, 'Response body'),
        React.createElement(HighlightCode, code, shown),
      );
    },
  },
});

/** The body of an answer in JSON; `undefined` for one that Swagger UI shows better by itself. */
function shownJson({ content, contentType }) {
  if (typeof content !== 'string' || content === '' || !/json/i.test(contentType)) return undefined;
  try {
    return formatJson(content);
  } catch {
    return undefined;
  }
}

SwaggerUIBundle({
  url: documentUrl.href,
  domNode: reference,
  plugins: [exactDocument, exactAnswers],
  presets: [SwaggerUIBundle.presets.apis],
  deepLinking: false,
  displayRequestDuration: true,
  showExtensions: true,
  syntaxHighlight: { theme: 'monokai' },
  tryItOutEnabled: true,
  validatorUrl: null,
});
