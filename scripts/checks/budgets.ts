/**
 * Checks the size budgets of ARCHITECTURE.md: files, functions, folders, and escapes from the type system.
 * No catch is on record: its limits shape changes before they are committed. It costs 3 CPU seconds.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import ts from 'typescript'

const fileLimit = { median: 90, p95: 250, max: 400 }
const functionLimit = { median: 12, p95: 45, max: 80 }
const folderLimit = 12
// Lower it with every merge of files.
const serverFileLimit = 345
const smallFileLimit = 0.1
// Folders with one file per table, router, resource, command or primitive of the page grow with the product.
const growingFolders =
  /\/(stores|routes|wire|commands|resources|schemas)$|^packages\/((contract|sdk)\/src|server\/src\/(features|http)|console\/src\/ui)$/

// The compiler and the linter read them; people read what they are generated from.
const generated = /^packages\/contract\/src\/vocabulary\/(wire-types|error-causes)\.ts$/

interface FoundFunction {
  place: string
  lines: number
}

const problems: string[] = []
const files = execFileSync('git', ['ls-files', 'packages/*/src/**', 'bench/src/**'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file) && !generated.test(file))

const functions: FoundFunction[] = []
const fileLines: { place: string; lines: number }[] = []
for (const file of files) {
  const text = readFileSync(file, 'utf8')
  fileLines.push({ place: file, lines: text.split('\n').length - 1 })
  inspect(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), file)
}

hold('file lines', fileLines, fileLimit)
hold('function lines', functions, functionLimit)
holdFolders()
holdFiles()

for (const problem of problems) console.error(problem)
console.log(`budgets: ${files.length} files, ${functions.length} functions, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function inspect(source: ts.SourceFile, file: string): void {
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1
  const visit = (node: ts.Node): void => {
    if (isNamedFunction(node)) {
      const lines = lineOf(node.getEnd()) - lineOf(node.getStart(source)) + 1
      functions.push({ place: `${file}:${lineOf(node.getStart(source))}`, lines })
    }
    if (node.kind === ts.SyntaxKind.AnyKeyword && !isExplained(node, source))
      problems.push(`${file}:${lineOf(node.getStart(source))} any`)
    if (ts.isNonNullExpression(node)) problems.push(`${file}:${lineOf(node.getStart(source))} non-null assertion`)
    ts.forEachChild(node, visit)
  }
  visit(source)
}

// Returns whether a comment explains the `any`. The linter requires one.
function isExplained(node: ts.Node, source: ts.SourceFile): boolean {
  const statement = ts.findAncestor(node, (above) => above.parent === source)
  const comments = statement && ts.getLeadingCommentRanges(source.text, statement.getFullStart())
  return (comments ?? []).some(({ pos, end }) => source.text.slice(pos, end).includes('noExplicitAny: '))
}

// Counts functions, methods, constructors, and arrow functions bound to a name. Callbacks count as part of the
// surrounding function.
function isNamedFunction(node: ts.Node): boolean {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isConstructorDeclaration(node)) {
    return node.body !== undefined
  }
  const isArrow = ts.isArrowFunction(node) || ts.isFunctionExpression(node)
  return isArrow && (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent))
}

function hold(what: string, found: { place: string; lines: number }[], limit: typeof fileLimit): void {
  const sorted = found.map(({ lines }) => lines).sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  console.log(`${what}: median ${at(0.5)}, p95 ${at(0.95)}, max ${at(1)}`)
  if (at(0.5) > limit.median) problems.push(`${what}: median ${at(0.5)} > ${limit.median}`)
  if (at(0.95) > limit.p95) problems.push(`${what}: p95 ${at(0.95)} > ${limit.p95}`)
  for (const { place, lines } of found) if (lines > limit.max) problems.push(`${place}: ${lines} lines > ${limit.max}`)
}

function holdFiles(): void {
  const ofServer = files.filter((file) => file.startsWith('packages/server/src/')).length
  const small = fileLines.filter(({ lines }) => lines < 20).length
  console.log(`files: ${ofServer} in packages/server/src, ${small} of all under 20 lines`)
  if (ofServer > serverFileLimit) problems.push(`packages/server/src: ${ofServer} files > ${serverFileLimit}`)
  if (small > files.length * smallFileLimit) problems.push(`${small} of ${files.length} files are under 20 lines`)
}

function holdFolders(): void {
  const entries = new Map<string, Set<string>>()
  for (const file of files) {
    for (let path = file; path.includes('/'); path = dirname(path)) {
      const folder = dirname(path)
      entries.set(folder, (entries.get(folder) ?? new Set()).add(path))
    }
  }
  for (const [folder, children] of entries) {
    if (!folder.includes('/src') || growingFolders.test(folder)) continue
    if (children.size > folderLimit) problems.push(`${folder}: ${children.size} entries > ${folderLimit}`)
  }
}
