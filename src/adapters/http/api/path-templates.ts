import type { CreateMatcher } from './http.ts';

/** Finds path templates without a router, for a carrier whose framework has none. */
export const matchTemplates: CreateMatcher = (templates) => {
  const routes = [...templates].map((route) => ({ route, pattern: patternOf(route) }));
  return (path) => {
    for (const { route, pattern } of routes) {
      const groups = pattern.exec(path)?.groups;
      if (groups !== undefined) return { route, params: decoded(groups) };
    }
    return undefined;
  };
};

/** Converts a path template to a pattern: `/v1/pets/{petId}` matches `/v1/pets/` and one segment, `petId`. */
function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(groups)) params[name] = decode(value);
  return params;
}

/** Decodes a segment of a path. Returns a segment that is not valid unchanged. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
