/** Shows the OpenAPI document in Swagger UI, in the color scheme of the browser. */

import { formatJson, parseDocument } from './exact-integers.js';

const { SwaggerUIBundle } = window;

/** The URLs are relative to the page, because a proxy may serve the page under another path. */
const documentUrl = new URL('openapi.json', location.href);
const apiUrl = new URL('v1', location.href);

const dark = matchMedia('(prefers-color-scheme: dark)');
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followTheme);
followTheme();

for (const url of document.querySelectorAll('[data-api-url]')) url.textContent = apiUrl.href;

/** The accessible names of controls that have no name in Swagger UI. The keys are CSS selectors. */
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

/**
 * A Swagger UI plugin that keeps the integers of the OpenAPI document exact. The plugin replaces the server URL with a
 * URL of the origin of the page. The content security policy allows no other origin.
 */
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

/** A Swagger UI plugin that displays the integers of JSON responses exactly. */
const exactResponses = ({ React, getComponent }) => ({
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

/**
 * Returns the formatted JSON body, or `undefined` when the body is not JSON. In that case, Swagger UI displays the
 * body.
 */
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
  plugins: [exactDocument, exactResponses],
  presets: [SwaggerUIBundle.presets.apis],
  deepLinking: false,
  displayRequestDuration: true,
  showExtensions: true,
  syntaxHighlight: { theme: 'monokai' },
  tryItOutEnabled: true,
  validatorUrl: null,
});
