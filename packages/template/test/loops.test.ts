import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'

const folder = fileURLToPath(new URL('../src/evaluate/', import.meta.url))
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** Pays, or gives the meter to what the loop calls. */
const PAYS = /\bmeter\b[^:]|\brun\)|\bmachine\.run\b/

function loopsThatDoNotPay(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isIterationStatement(node, false)) {
      const comments = text.slice(node.getFullStart(), node.getStart())
      const around = ts.findAncestor(node, ts.isFunctionLike)
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
      const body = around && 'body' in around ? around.body : undefined
      if (!comments.includes('// bounded: ') && !PAYS.test(body?.getText() ?? '')) found.push(`${name}:${line}`)
    }
    node.forEachChild(visit)
  }
  visit(file)
  return found
}

it('every loop of the evaluator pays with fuel, or says what bounds it', () => {
  expect(files.flatMap((file) => loopsThatDoNotPay(file, readFileSync(folder + file, 'utf8')))).toEqual([])
})

it.each([
  ['', 1],
  ['meter.spend(1)\n', 0],
  ['// bounded: two\n', 0],
  ['meter: 1\n', 1],
])('sees a loop that does not pay behind %j', (before, count) => {
  const text = `function f(meter: Meter) {\n${before}for (const each of two) use(each)\n}`
  expect(loopsThatDoNotPay('f.ts', text)).toHaveLength(count)
})
