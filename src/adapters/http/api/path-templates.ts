import type { CreateMatcher } from './http.ts';

/** Finds path templates without a router, for a carrier whose framework has none. */
export const matchTemplates: CreateMatcher = (templates) => {
  const routes = [...templates].map((route) => ({ route, pattern: patternOf(route) }));
  return (path) => {
    for (const { route, pattern } of routes) {
      const groups = pattern.exec(path)?.groups;
      if (groups === undefined) continue;
      const params = Object.entries(groups).map(([name, value]) => [name, decode(value)] as const);
      return { route, params: Object.fromEntries(params) };
    }
    return undefined;
  };
};

/** Converts a path template to a pattern: `/v1/pets/{petId}` matches `/v1/pets/` and one segment, `petId`. */
function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

/** Decodes a segment of a path. Returns a segment that is not valid unchanged. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
