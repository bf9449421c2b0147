/** What a client accepts, from the field `Accept` (RFC 9110, section 12.5.1). */

/** A media range of `Accept`, as far as it concerns one media type. */
interface Preference {
  /** The weight, from 0 to 1. `NaN` for an invalid weight. */
  readonly quality: number;
  /** How precisely the range describes the type. */
  readonly specificity: number;
  readonly index: number;
}

const MEDIA_RANGE = /^\s*([^\s/;]+)\/([^\s;]+)\s*(?:;(.*))?$/;

/** A quoted string can contain commas and semicolons. */
const QUOTED = /"[^"]*"?/g;

const NONE: Preference = { quality: 0, specificity: 0, index: -1 };

/** Whether a client prefers HTML to JSON. A client that has no preference gets JSON. */
export function prefersHtml(accept = ''): boolean {
  const ranges = accept.replaceAll(QUOTED, '""').split(',');
  const html = preference(ranges, 'text', 'html');
  if (!(html.quality > 0)) return false;
  const json = preference(ranges, 'application', 'json');
  if (!(json.quality > 0)) return true;
  return (html.quality - json.quality || html.specificity - json.specificity || json.index - html.index) > 0;
}

/** Returns the most specific media range that contains a type. */
function preference(ranges: readonly string[], type: string, subtype: string): Preference {
  let best = NONE;
  for (const [index, range] of ranges.entries()) {
    const [, rangeType = '', rangeSubtype = '', parameters = ''] = MEDIA_RANGE.exec(range) ?? [];
    const specificity = specificityOf(rangeType, type) * 2 + specificityOf(rangeSubtype, subtype);
    const quality = qualityIn(parameters);
    if (Number.isNaN(specificity) || quality === undefined) continue;
    if ((specificity - best.specificity || quality - best.quality || index - best.index) > 0) {
      best = { quality, specificity, index };
    }
  }
  return best;
}

function specificityOf(range: string, name: string): number {
  if (range.toLowerCase() === name) return 1;
  return range === '*' ? 0 : Number.NaN;
}

/** Returns the weight of a range. Returns `undefined` if the range has a parameter, which JSON and HTML do not have. */
function qualityIn(parameters: string): number | undefined {
  for (const parameter of parameters.split(';')) {
    const [name = '', value = ''] = parameter.trim().split('=');
    if (name.toLowerCase() === 'q') return Number.parseFloat(value);
    if (name !== '') return undefined;
  }
  return 1;
}
