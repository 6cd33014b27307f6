/**
 * Fails unless ADR 47 lists exactly the plain SQL in the stores.
 * No catch is on record; it costs 2 CPU seconds.
 */
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'

const stores = 'packages/server/src/adapters/database/stores'
const adr = 'docs/adr/0047-stores-use-prisma-client.md'

/** The statements in the ADR's table, whose rows are: | `file` | `statement`, `statement` | why | gain |. */
const listed = new Set(
  readFileSync(adr, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, file, statements] = /^\| `([\w-]+)` \| (.+?) \|/.exec(line) ?? []
      return [...(statements ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => `${file}: ${name}`)
    }),
)
const used = new Set(readdirSync(stores).flatMap((name) => (name.endsWith('.ts') ? rawStatementsOf(name) : [])))

const problems = [
  ...[...used].filter((statement) => !listed.has(statement)).map((statement) => `${statement} uses plain SQL`),
  ...[...listed].filter((statement) => !used.has(statement)).map((statement) => `${statement} uses no plain SQL`),
]
for (const problem of problems) console.error(`${problem}: use Prisma Client or change the table of ${adr}`)
console.log(`plain SQL: ${used.size} statements in stores, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function rawStatementsOf(name: string): string[] {
  const file = name.slice(0, -'.ts'.length)
  const source = ts.createSourceFile(name, readFileSync(`${stores}/${name}`, 'utf8'), ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (holdsSql(node)) found.push(`${file}: ${holderOf(node)}`)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** A string or template counts as a statement if it starts with an SQL command. */
function holdsSql(node: ts.Node): boolean {
  const isText = ts.isStringLiteral(node) || ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)
  return isText && /^[`']\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(node.getText())
}

/**
 * Returns the name of the top-level constant that contains the statement. Without one, returns the name of the
 * innermost method, property or function.
 */
function holderOf(node: ts.Node): string {
  const constant = ts.findAncestor(node, ts.isVariableStatement)
  if (constant && ts.isSourceFile(constant.parent))
    return constant.declarationList.declarations[0]?.name.getText() ?? ''
  const holder = ts.findAncestor(
    node,
    (above) => ts.isMethodDeclaration(above) || ts.isPropertyAssignment(above) || ts.isFunctionDeclaration(above),
  ) as ts.NamedDeclaration | undefined
  return holder?.name?.getText() ?? ''
}
