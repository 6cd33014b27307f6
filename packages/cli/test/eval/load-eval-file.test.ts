import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadEvalFile } from '../../src/commands/eval/load-eval-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function load(name: string, text: string) {
  const folder = await temporaryFolder()
  await writeFile(join(folder, name), text)
  return loadEvalFile(name, folder)
}

const definition = "{ path: 'a/b', threshold: 0.5, scorers: { one: () => true } }"

test.each([
  ['a module', 'refund.eval.mjs', `export default ${definition}`],
  ['a module of another copy of the SDK', 'refund.eval.js', `export default Object.freeze(${definition})`],
  ['a file compiled to CommonJS', 'refund.eval.cjs', `exports.__esModule = true; exports.default = ${definition}`],
])('imports %s', async (_, name, text) => {
  const file = await load(name, text)
  expect(file).toMatchObject({ name, definition: { path: 'a/b', threshold: 0.5 } })
})

test.each([
  ['no default export', 'a.eval.mjs', 'export const one = 1', 'does not export an eval'],
  ['another default export', 'a.eval.mjs', 'export default { scorers: {} }', 'does not export an eval'],
  [
    'a scorer that is no function',
    'a.eval.mjs',
    `export default ${definition.replace('() => true', 'true')}`,
    'does not',
  ],
  ['wrong syntax', 'a.eval.mjs', 'export default {', 'cannot import a.eval.mjs'],
  ['code that throws', 'a.eval.mjs', "throw new Error('No key')", 'No key'],
])('refuses a file with %s', async (_, name, text, message) => {
  await expect(load(name, text)).rejects.toThrow(message)
})
