/**
 * Removes references to modules that a new project does not have: imports, elements of lists, members, statements and tests. Then
 * removes what is no longer used: imports, declarations, exports, and modules that no other module imports.
 */

import { dirname, join, matchesGlob } from 'node:path';
import ts from 'typescript';

type Texts = ReadonlyMap<string, string>;

/** Stands for all exports of a module. */
const ALL = '*';

/**
 * Removes the code that depends on modules which are left out.
 *
 * @param modules the texts of modules by their paths
 * @param isEntry whether a module is an entry point, whose exports always count as used
 * @param isGoneText whether a text in a test, such as an argument of a command, belongs to a part that is left out
 */
export function pruned(
  modules: Texts,
  isEntry: (path: string) => boolean,
  isGoneText: (text: string) => boolean = () => false,
): Map<string, string> {
  return new Pruning(modules, isEntry, isGoneText).run();
}

class Pruning {
  readonly #isEntry: (path: string) => boolean;
  readonly #isGoneText: (text: string) => boolean;
  readonly #files: ReadonlyMap<string, ts.SourceFile>;
  readonly #checker: ts.TypeChecker;
  readonly #symbols = new Map<ts.Node, ts.Symbol | undefined>();
  readonly #removed = new Set<ts.Node>();
  readonly #gone = new Set<ts.Symbol>();
  /** Names of members that no type has any more. */
  readonly #goneMembers = new Set<string>();

  constructor(texts: Texts, isEntry: (path: string) => boolean, isGoneText: (text: string) => boolean) {
    this.#isEntry = isEntry;
    this.#isGoneText = isGoneText;
    const options = { noResolve: true, noLib: true, allowJs: true, target: ts.ScriptTarget.Latest };
    const host: ts.CompilerHost = {
      ...ts.createCompilerHost(options, true),
      getSourceFile: (path) => {
        const text = texts.get(path);
        return text === undefined
          ? undefined
          : ts.createSourceFile(
              path,
              text,
              { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone },
              true,
            );
      },
      fileExists: (path) => texts.has(path),
      readFile: (path) => texts.get(path),
      getCurrentDirectory: () => '',
      // Resolves no modules, so that an imported name refers to the import, not to the declaration in the other module.
      resolveModuleNameLiterals: (names) => names.map(() => ({ resolvedModule: undefined })),
    };
    const program = ts.createProgram([...texts.keys()], options, host);
    this.#files = new Map(program.getSourceFiles().map((file) => [file.fileName, file]));
    this.#checker = program.getTypeChecker();
  }

  run(): Map<string, string> {
    let before = -1;
    // Repeats the steps until nothing more is removed, because a removed node can contain the last use of a name.
    while (before < this.#removed.size) {
      before = this.#removed.size;
      for (const file of this.#files.values()) this.#keepMembers(file);
      for (const file of this.#files.values()) this.#removeReferences(file);
      if (before === this.#removed.size) this.#removeUnused();
    }
    const kept = [...this.#files.values()].filter((file) => !this.#isEmpty(file));
    return new Map(kept.map((file) => [file.fileName, this.#textOf(file)]));
  }

  /** Returns the path of an imported module of the project, even if the module is left out. Returns `undefined` for a package. */
  #target(from: ts.Node, specifier: ts.Node | undefined): string | undefined {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith('.'))
      return undefined;
    return join(dirname(from.getSourceFile().fileName), specifier.text);
  }

  #isMissing(path: string | undefined): boolean {
    return path !== undefined && /\.[cm]?[jt]s$/.test(path) && !this.#files.has(path) && !isBuilt(path);
  }

  #isGoneExport(path: string | undefined, name: string): boolean {
    const file = this.#files.get(path ?? '');
    return file !== undefined && !this.#hasExport(file, name);
  }

  #hasExport(file: ts.SourceFile, name: string): boolean {
    return file.statements.some((statement) => {
      if (this.#removed.has(statement)) return false;
      if (ts.isExportDeclaration(statement) && statement.exportClause === undefined) {
        const other = this.#files.get(this.#target(statement, statement.moduleSpecifier) ?? '');
        return other !== undefined && this.#hasExport(other, name);
      }
      const isName = (each: ts.Node): boolean => each.getText() === name && !this.#removed.has(each.parent);
      return isExported(statement) && [...declaredNames(statement)].some(isName);
    });
  }

  #keepMembers(node: ts.Node): void {
    if (this.#removed.has(node)) return;
    if (isTypeMember(node)) this.#goneMembers.delete(node.name.getText());
    ts.forEachChild(node, (child) => this.#keepMembers(child));
  }

  #removeReferences(file: ts.SourceFile): void {
    const visit = (node: ts.Node): void => {
      if (this.#removed.has(node)) return;
      if (this.#refersToMissing(node)) this.#remove(this.#victimOf(node));
      else ts.forEachChild(node, visit);
    };
    visit(file);
  }

  #refersToMissing(node: ts.Node): boolean {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
      return this.#isMissing(this.#target(node, node.moduleSpecifier));
    if (ts.isImportSpecifier(node) || ts.isExportSpecifier(node)) {
      const { moduleSpecifier } = declarationOf(node);
      const name = (node.propertyName ?? node.name).text;
      if (moduleSpecifier !== undefined) return this.#isGoneExport(this.#target(node, moduleSpecifier), name);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      return this.#isMissing(this.#target(node, node.arguments[0]));
    if (isText(node) && this.#isGoneText(node.text)) return node.getSourceFile().fileName.startsWith('test/');
    // A configuration can contain patterns of test files. A pattern is removed if no file matches it.
    if (ts.isStringLiteral(node) && /^test\/\S+\.ts$/.test(node.text))
      return ![...this.#files.keys()].some((path) => matchesGlob(path, node.text));
    if (ts.isPropertyAccessExpression(node))
      return this.#goneMembers.has(node.name.text) || this.#isGoneMember(node);
    if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent))
      return this.#goneMembers.has((node.propertyName ?? node.name).getText());
    return ts.isIdentifier(node) && isReference(node) && this.#gone.has(this.#symbolOf(node) as ts.Symbol);
  }

  /** Whether the node is `names.a`, where `names` is the namespace of a module that does not export `a` any more. */
  #isGoneMember({ expression, name }: ts.PropertyAccessExpression): boolean {
    const [declaration] = this.#checker.getSymbolAtLocation(expression)?.declarations ?? [];
    if (declaration === undefined || !ts.isNamespaceImport(declaration)) return false;
    return this.#isGoneExport(
      this.#target(declaration, declaration.parent.parent.moduleSpecifier),
      name.text,
    );
  }

  #symbolOf(node: ts.Identifier): ts.Symbol | undefined {
    if (!this.#symbols.has(node)) this.#symbols.set(node, this.#findSymbol(node));
    return this.#symbols.get(node);
  }

  #findSymbol(node: ts.Identifier): ts.Symbol | undefined {
    const { parent } = node;
    if (ts.isShorthandPropertyAssignment(parent))
      return this.#checker.getShorthandAssignmentValueSymbol(parent);
    if (ts.isExportSpecifier(parent)) return this.#checker.getExportSpecifierLocalTargetSymbol(parent);
    return this.#checker.getSymbolAtLocation(node);
  }

  /** Returns the smallest part around a node that can be removed so that the rest of the module still makes sense. */
  #victimOf(node: ts.Node): ts.Node {
    // If the node is spread into an object, only the spread is removed, so that a test keeps its other options.
    if (ts.isSpreadAssignment(node.parent)) return node.parent;
    const row = isText(node) ? rowAround(node) : undefined;
    if (row !== undefined) return row;
    if (ts.isBindingElement(node) && node.parent.elements.length > 1) return node;
    const inTest = testAround(node);
    if (inTest !== undefined) return inTest;
    for (let at = node; ; at = at.parent) {
      const { parent } = at;
      if (isMember(at)) {
        // In an array, a nested array or object is removed as a whole.
        const isInRow = ts.isArrayLiteralExpression(parent) || ts.isObjectLiteralExpression(parent);
        return isInRow && ts.isArrayLiteralExpression(parent.parent) ? parent : at;
      }
      if (ts.isHeritageClause(parent)) return parent.types.length > 1 ? at : parent;
      if (ts.isVariableDeclaration(at) && ts.isVariableDeclarationList(parent)) {
        if (parent.declarations.length > 1) return at;
      } else if (isWholeStatement(at)) return at;
    }
  }

  #remove(node: ts.Node): void {
    this.#removed.add(node);
    const remember = (name: ts.Node | undefined): void => {
      if (name === undefined) return;
      if (ts.isObjectBindingPattern(name) || ts.isArrayBindingPattern(name)) {
        for (const element of name.elements) if (ts.isBindingElement(element)) remember(element.name);
        return;
      }
      const symbol = this.#checker.getSymbolAtLocation(name);
      if (symbol !== undefined) this.#gone.add(symbol);
    };
    for (const name of declaredNames(node)) remember(name);
    if (isTypeMember(node)) this.#goneMembers.add(node.name.getText());
  }

  /** Removes imports, exports and top-level declarations that are not in use, and modules that no other module imports. */
  #removeUnused(): void {
    const uses = new Set<string>();
    const symbols = new Set<ts.Symbol>();
    for (const file of this.#files.values()) this.#collectUses(file, uses, symbols);
    for (const file of this.#files.values()) {
      const path = file.fileName;
      if (!this.#isEntry(path) && !uses.has(path)) {
        for (const statement of file.statements) this.#removed.add(statement);
        continue;
      }
      const isPublic = this.#isEntry(path) || uses.has(`${path}#${ALL}`);
      for (const statement of file.statements) {
        if (ts.isImportDeclaration(statement)) this.#removeUnusedImports(statement, symbols);
        else if (ts.isExportDeclaration(statement)) this.#removeUnusedExports(statement, uses, isPublic);
        else {
          const names = [...declaredNames(statement)];
          const isUsed = (name: ts.Node): boolean =>
            (isExported(statement) && (isPublic || uses.has(`${path}#${name.getText()}`))) ||
            symbols.has(this.#checker.getSymbolAtLocation(name) as ts.Symbol);
          if (names.length > 0 && !names.some(isUsed)) this.#removed.add(statement);
        }
      }
    }
  }

  #collectUses(file: ts.SourceFile, uses: Set<string>, symbols: Set<ts.Symbol>): void {
    const use = (path: string | undefined, name: string): void => {
      if (path === undefined || uses.has(`${path}#${name}`)) return;
      uses.add(path).add(`${path}#${name}`);
      // The name can come from another module, through `export *`.
      for (const statement of this.#files.get(path)?.statements ?? []) {
        if (ts.isExportDeclaration(statement) && statement.exportClause === undefined)
          use(this.#target(statement, statement.moduleSpecifier), name);
      }
    };
    const visit = (node: ts.Node): void => {
      if (this.#removed.has(node)) return;
      if (ts.isExportDeclaration(node) && node.exportClause === undefined && this.#isEntry(file.fileName))
        use(this.#target(node, node.moduleSpecifier), ALL);
      if (ts.isImportSpecifier(node) || ts.isExportSpecifier(node)) {
        const target = this.#target(node, declarationOf(node).moduleSpecifier);
        use(target, (node.propertyName ?? node.name).text);
        if (target !== undefined) return;
      } else if (ts.isStringLiteralLike(node) && node.text.startsWith('.')) {
        const target = this.#target(node, node);
        const { parent } = node;
        if (target !== undefined && !isPlainImport(parent)) use(target, ALL);
      } else if (ts.isStringLiteralLike(node) && this.#files.has(node.text)) {
        use(node.text, ALL);
      }
      if (ts.isIdentifier(node) && isReference(node)) {
        const symbol = this.#symbolOf(node);
        if (symbol !== undefined && !isInside(node, symbol.declarations)) symbols.add(symbol);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }

  #removeUnusedImports(statement: ts.ImportDeclaration, symbols: ReadonlySet<ts.Symbol>): void {
    const { importClause } = statement;
    if (importClause === undefined) return;
    const isUnused = (name: ts.Node): boolean =>
      !symbols.has(this.#checker.getSymbolAtLocation(name) as ts.Symbol);
    const { name, namedBindings } = importClause;
    const specifiers = namedBindings && ts.isNamedImports(namedBindings) ? [...namedBindings.elements] : [];
    const all = namedBindings && ts.isNamespaceImport(namedBindings) ? namedBindings.name : undefined;
    const names = [name, all, ...specifiers.map((each) => each.name)].filter((each) => each !== undefined);
    if (names.every(isUnused)) this.#removed.add(statement);
    else for (const each of specifiers) if (isUnused(each.name)) this.#removed.add(each);
  }

  #removeUnusedExports(statement: ts.ExportDeclaration, uses: ReadonlySet<string>, isPublic: boolean): void {
    const { exportClause } = statement;
    if (isPublic || exportClause === undefined || !ts.isNamedExports(exportClause)) return;
    const path = statement.getSourceFile().fileName;
    for (const each of exportClause.elements) {
      if (!uses.has(`${path}#${each.name.text}`)) this.#removed.add(each);
    }
  }

  #isEmpty(file: ts.SourceFile): boolean {
    const left = file.statements.filter((statement) => !this.#isRemoved(statement));
    if (file.fileName.endsWith('.test.ts'))
      return !left.some(
        (statement) => /\btest/.test(statement.getText()) && !ts.isImportDeclaration(statement),
      );
    return file.statements.length > 0 && left.length === 0;
  }

  #isRemoved(statement: ts.Statement): boolean {
    if (this.#removed.has(statement)) return true;
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.every((each) => this.#removed.has(each));
    const lists = specifierListsOf(statement);
    return lists.length > 0 && lists.every((each) => this.#removed.has(each));
  }

  #textOf(file: ts.SourceFile): string {
    const ranges: { start: number; end: number }[] = [];
    const visit = (node: ts.Node): void => {
      const isGone = this.#removed.has(node) || (ts.isStatement(node) && this.#isRemoved(node));
      if (isGone) ranges.push(rangeOf(node, file));
      else ts.forEachChild(node, visit);
    };
    visit(file);
    let text = file.text;
    for (const { start, end } of ranges.reverse()) text = text.slice(0, start) + text.slice(end);
    return text;
  }
}

function isTypeMember(
  node: ts.Node,
): node is (ts.TypeElement | ts.ClassElement) & { readonly name: ts.Node } {
  return (ts.isTypeElement(node) || ts.isClassElement(node)) && node.name !== undefined;
}

/** Whether an identifier is a use of a declared name, not the declaration itself or the name of a member. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name !== node;
  if (ts.isQualifiedName(parent)) return parent.right !== node;
  if (ts.isExportSpecifier(parent)) return declarationOf(parent).moduleSpecifier === undefined;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isImportSpecifier(parent) || ts.isImportClause(parent) || ts.isNamespaceImport(parent)) return false;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  const named = parent as { readonly name?: ts.Node };
  return named.name !== node;
}

function declarationOf(
  node: ts.ImportSpecifier | ts.ExportSpecifier,
): ts.ImportDeclaration | ts.ExportDeclaration {
  return ts.isImportSpecifier(node)
    ? (node.parent.parent.parent as ts.ImportDeclaration)
    : node.parent.parent;
}

function specifierListsOf(statement: ts.Statement): readonly ts.Node[] {
  if (
    ts.isExportDeclaration(statement) &&
    statement.exportClause &&
    ts.isNamedExports(statement.exportClause)
  )
    return statement.exportClause.elements;
  if (!ts.isImportDeclaration(statement) || statement.importClause?.name !== undefined) return [];
  const bindings = statement.importClause?.namedBindings;
  return bindings && ts.isNamedImports(bindings) ? bindings.elements : [];
}

/** Returns the names that the node declares. */
function* declaredNames(node: ts.Node): Generator<ts.Node> {
  if (ts.isVariableStatement(node))
    for (const each of node.declarationList.declarations) yield* declaredNames(each);
  else if (ts.isVariableDeclaration(node) || ts.isBindingElement(node)) yield* boundNames(node.name);
  else if (ts.isImportDeclaration(node)) {
    const { name, namedBindings } = node.importClause ?? {};
    if (name) yield name;
    if (namedBindings && ts.isNamedImports(namedBindings))
      for (const each of namedBindings.elements) yield each.name;
    else if (namedBindings) yield namedBindings.name;
  } else if (ts.isExportDeclaration(node)) {
    if (node.exportClause && ts.isNamedExports(node.exportClause))
      for (const each of node.exportClause.elements) yield each.name;
  } else if (ts.isImportSpecifier(node) || ts.isExportSpecifier(node)) yield node.name;
  else if (isDeclaration(node) && node.name !== undefined) yield node.name;
}

function* boundNames(name: ts.BindingName): Generator<ts.Node> {
  if (ts.isIdentifier(name)) yield name;
  else for (const each of name.elements) if (ts.isBindingElement(each)) yield* boundNames(each.name);
}

function isDeclaration(node: ts.Node): node is ts.DeclarationStatement {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  );
}

function isExported(node: ts.Node): boolean {
  if (ts.isExportDeclaration(node)) return true;
  const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

function isPlainImport(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) {
    const { importClause } = node;
    return importClause?.namedBindings === undefined || !ts.isNamespaceImport(importClause.namedBindings);
  }
  // A re-export by itself uses no names: a name is in use if another module imports it.
  return ts.isExportDeclaration(node);
}

function isMember(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isUnionTypeNode(parent)) return parent.types.some((each) => each !== node && !isUndefined(each));
  return (
    ts.isArrayLiteralExpression(parent) ||
    ts.isIntersectionTypeNode(parent) ||
    ts.isObjectLiteralElementLike(node) ||
    ts.isTypeElement(node) ||
    (ts.isClassElement(node) && !ts.isConstructorDeclaration(node)) ||
    ts.isImportSpecifier(node) ||
    ts.isExportSpecifier(node)
  );
}

function isUndefined({ kind }: ts.Node): boolean {
  return kind === ts.SyntaxKind.UndefinedKeyword;
}

/**
 * Whether a statement can be removed while the code around it stays. This is not so for a block, a `return`, an `if` with an
 * `else`, and a branch without braces.
 */
function isWholeStatement(node: ts.Node): boolean {
  if (!ts.isStatement(node) || ts.isBlock(node) || ts.isReturnStatement(node)) return false;
  if (ts.isIfStatement(node) && node.elseStatement !== undefined) return false;
  return ts.isBlock(node.parent) || ts.isSourceFile(node.parent) || ts.isCaseOrDefaultClause(node.parent);
}

function isInside(node: ts.Node, declarations: readonly ts.Node[] = []): boolean {
  return declarations.some(
    (each) => !ts.isSourceFile(each) && node.pos >= each.pos && node.end <= each.end && isDeclaration(each),
  );
}

function isText(
  node: ts.Node,
): node is ts.StringLiteral | ts.NoSubstitutionTemplateLiteral | ts.TemplateHead {
  return ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateHead(node);
}

/** Returns the row around a text, if the row is in a list of cases that a test tries one after the other. */
function rowAround(node: ts.Node): ts.Node | undefined {
  let at = node;
  while (ts.isArrayLiteralExpression(at.parent) && ts.isArrayLiteralExpression(at.parent.parent))
    at = at.parent;
  const list = at.parent;
  if (!ts.isArrayLiteralExpression(list)) return undefined;
  const user = ts.isAsExpression(list.parent) ? list.parent.parent : list.parent;
  const isTried =
    ts.isForOfStatement(user) ||
    (ts.isCallExpression(user) && /\.(?:each|for)(?:<.*>)?$/s.test(user.expression.getText()));
  return isTried ? at : undefined;
}

/** Returns the test, or the case of a contract, whose function contains the node. */
function testAround(node: ts.Node): ts.Node | undefined {
  for (let at: ts.Node = node; !ts.isSourceFile(at); at = at.parent) {
    const isTest = ts.isExpressionStatement(at) && /^test\b/.test(at.getText());
    const isCase = ts.isArrayLiteralExpression(at.parent) && /^(?:\.{3})?\w+Case\(/.test(at.getText());
    const isNamedCase = ts.isPropertyAssignment(at) && /^\w+Cases\(/.test(at.parent.parent.getText());
    if ((isTest || isCase || isNamedCase) && isInFunction(at, node)) return at;
  }
  return undefined;
}

function isInFunction(statement: ts.Node, node: ts.Node): boolean {
  for (let at = node; at !== statement; at = at.parent) if (ts.isFunctionLike(at)) return true;
  return false;
}

/** Whether a path is outside of the project, or in a folder that a build or an installation writes. */
function isBuilt(path: string): boolean {
  return /(?:^|\/)(?:dist|node_modules)\//.test(path) || path.startsWith('..');
}

/** Returns the range of a node with its comments, and with the separator after or before it. */
function rangeOf(node: ts.Node, { text, statements }: ts.SourceFile): { start: number; end: number } {
  const after = (position: number): number =>
    ts.getTrailingCommentRanges(text, position)?.at(-1)?.end ?? position;
  let start = node === statements[0] ? node.getStart() : after(node.getFullStart());
  let { end } = node;
  const [separator] = /^\s*[,|&]/.exec(text.slice(end)) ?? [];
  const { parent } = node;
  if (separator !== undefined && !ts.isStatement(node)) end += separator.length;
  else if (ts.isUnionTypeNode(parent) || ts.isIntersectionTypeNode(parent)) {
    start -= (/[|&]\s*$/.exec(text.slice(0, node.getFullStart())) ?? [''])[0].length;
  }
  return { start, end: after(end) };
}
