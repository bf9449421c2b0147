/** Compiles new projects in memory. What all of them share is read once. */

import { dirname, join } from 'node:path';
import ts from 'typescript';
import type { NamedAttribute } from '../../scripts/attribute-text.ts';
import type { Names } from '../../scripts/new/names.ts';
import type { PartName } from '../../scripts/new/parts.ts';
import { filesOf, ROOT } from '../../scripts/new/project.ts';

const libraries = new Map<string, ts.SourceFile | undefined>();

/** Returns the faults that the compiler finds in a project with these names. */
export function faultsOf(
  names: Names,
  change = (_path: string, text: string): string => text,
  parts: readonly PartName[] = [],
  attributes: readonly NamedAttribute[] = [],
): string[] {
  const files = new Map(
    filesOf(names, parts, attributes).map(({ path, content }) => [
      join(ROOT, path),
      change(path, content.toString()),
    ]),
  );
  const folders = new Set([...files.keys()].flatMap(foldersAbove));
  const sys: ts.System = {
    ...ts.sys,
    readFile: (path) => files.get(path) ?? (isOwn(path) ? undefined : ts.sys.readFile(path)),
    fileExists: (path) => files.has(path) || (!isOwn(path) && ts.sys.fileExists(path)),
    directoryExists: (path) => folders.has(path) || (!isOwn(path) && ts.sys.directoryExists(path)),
    readDirectory: (root, extensions = [], excluded = []) =>
      [...files.keys()].filter(
        (path) =>
          path.startsWith(root) &&
          extensions.some((each) => path.endsWith(each)) &&
          !excluded.some((each) => path.startsWith(join(root, each))),
      ),
  };
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), sys.readFile);
  const { include, exclude = [] } = config as { include: string[]; exclude?: string[] };
  const { options } = ts.parseJsonConfigFileContent(config, sys, ROOT);
  const isBelow = (paths: readonly string[]) => (path: string) =>
    paths.some((each) => path === join(ROOT, each) || path.startsWith(`${join(ROOT, each)}/`));
  const roots = [...files.keys()].filter((path) => /\.[cm]?ts$/.test(path) && isBelow(include)(path));
  const host = ts.createCompilerHost(options);
  const getSourceFile: ts.CompilerHost['getSourceFile'] = (path, languageVersion) => {
    if (isOwn(path)) {
      const text = files.get(path);
      return text === undefined ? undefined : ts.createSourceFile(path, text, languageVersion);
    }
    if (!libraries.has(path)) libraries.set(path, host.getSourceFile(path, languageVersion));
    return libraries.get(path);
  };
  const { readFile, fileExists, directoryExists } = sys;
  const program = ts.createProgram(
    roots.filter((path) => !isBelow(exclude)(path)),
    { ...options, skipLibCheck: true, declaration: false, isolatedDeclarations: false },
    { ...host, getCurrentDirectory: () => ROOT, getSourceFile, readFile, fileExists, directoryExists },
  );
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0;
    return `${file?.fileName}:${line + 1}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

/** Whether a path belongs to the project itself, and not to one of its packages. */
function isOwn(path: string): boolean {
  return path.startsWith(`${ROOT}/`) && !path.includes('/node_modules');
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === ROOT ? [folder] : [folder, ...foldersAbove(folder)];
}
