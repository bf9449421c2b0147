/**
 * Writes the public API as text to docs/api/, one file per entry point, so that each change of the API can be reviewed. `npm run
 * api:report` writes the files. test/library/api-report.test.ts checks that the files are up to date.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '..');
export const REPORTS: string = join(ROOT, 'docs/api');

export interface ApiReport {
  /** The name of the entry point, such as `animal-store/http`. */
  readonly entryPoint: string;
  /** The name of the report's file in docs/api/. */
  readonly file: string;
  readonly text: string;
  /** The exported names, and the methods of exported names, that have no docstring. */
  readonly undocumented: readonly string[];
}

/** Returns a report for each entry point that has types in the `exports` of package.json. */
export function apiReports(): ApiReport[] {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Package;
  const entries = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [[path, sourceOf(target.types)] as const],
  );
  const options = compilerOptions();
  const sources = entries.map(([, source]) => source);
  const program = ts.createProgram(sources, options, hostWithoutPackages(options));
  return entries.map(([path, source]) => report(program, join(name, path), source));
}

interface Package {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

function sourceOf(types: string): string {
  return join(ROOT, types.replace(/^\.\/dist\//, 'src/').replace(/\.d\.ts$/, '.ts'));
}

function compilerOptions(): ts.CompilerOptions {
  const path = join(ROOT, 'tsconfig.build.json');
  const { config } = ts.readConfigFile(path, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return { ...options, incremental: false, noLib: true, types: [] };
}

/** Returns a compiler host that loads only the modules of this project, because the report needs no types of packages. */
function hostWithoutPackages(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options, true);
  host.resolveModuleNameLiterals = (names, importer) =>
    names.map(({ text }) =>
      text.startsWith('.') ? ts.resolveModuleName(text, importer, options, host) : NOT_LOADED,
    );
  return host;
}

const NOT_LOADED: ts.ResolvedModuleWithFailedLookupLocations = { resolvedModule: undefined };

function report(program: ts.Program, entryPoint: string, source: string): ApiReport {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(source) as ts.SourceFile) as ts.Symbol;
  const symbols = checker
    .getExportsOfModule(module)
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const declarations = symbols.map((symbol) => declarationOf(symbol, program));
  const file = `${entryPoint.replaceAll('/', '-')}.md`;
  const text = `# ${entryPoint}\n\n\`\`\`ts\n${declarations.join('\n\n')}\n\`\`\`\n`;
  return { entryPoint, file, text, undocumented: symbols.flatMap((symbol) => undocumented(symbol, checker)) };
}

/** Returns the declaration of a symbol, with its docstring, as in the emitted `.d.ts`. */
function declarationOf(symbol: ts.Symbol, program: ts.Program): string {
  const source = symbol.declarations?.[0]?.getSourceFile() as ts.SourceFile;
  const emitted = emittedOf(source, program.getCompilerOptions());
  const statement = emitted.statements.find((each) => namesOf(each).includes(symbol.name));
  if (statement === undefined) throw new Error(`${symbol.name} is not declared in ${source.fileName}`);
  const code = ts.createPrinter().printNode(ts.EmitHint.Unspecified, statement, emitted);
  // Removes the comments that the printer has added: it adds the docstring to some kinds of statements, and the comment of the file
  // to the first statement.
  const bare = code.replace(/^(?:\/\*\*[\s\S]*?\*\/\n)+/, '');
  const docstring = ts.getJSDocCommentsAndTags(statement).findLast(ts.isJSDoc)?.getText(emitted);
  return docstring === undefined ? bare : `${docstring}\n${bare}`;
}

const EMITTED = new WeakMap<ts.SourceFile, ts.SourceFile>();

/** Returns the `.d.ts` of a module. */
function emittedOf(source: ts.SourceFile, compilerOptions: ts.CompilerOptions): ts.SourceFile {
  const known = EMITTED.get(source);
  if (known !== undefined) return known;
  const { fileName } = source;
  const { outputText } = ts.transpileDeclaration(source.text, { compilerOptions, fileName });
  const emitted = ts.createSourceFile('emitted.d.ts', outputText, ts.ScriptTarget.Latest, true);
  EMITTED.set(source, emitted);
  return emitted;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  return 'name' in statement ? [(statement.name as ts.Identifier).text] : [];
}

/**
 * Checks a symbol and its methods, and returns the names of those without a docstring. Properties are not checked, because their
 * name and type may be enough.
 */
function undocumented(symbol: ts.Symbol, checker: ts.TypeChecker): string[] {
  const isDocumented = (each: ts.Symbol) => each.getDocumentationComment(checker).length > 0;
  const methods = [...(symbol.members?.values() ?? [])].filter(
    ({ flags, valueDeclaration }) =>
      flags & ts.SymbolFlags.Method &&
      !ts.isPrivateIdentifier((valueDeclaration as ts.MethodDeclaration).name),
  );
  const bare = methods.filter((method) => !isDocumented(method)).map(({ name }) => `${symbol.name}.${name}`);
  return isDocumented(symbol) ? bare : [symbol.name, ...bare];
}

if (import.meta.main) {
  mkdirSync(REPORTS, { recursive: true });
  for (const { file, text } of apiReports()) writeFileSync(join(REPORTS, file), text);
}
