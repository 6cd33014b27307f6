/** Writes the example of each route's method for the API description. `test/examples.test.ts` compiles the examples. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { laterOperations } from '../src/later-operations.ts'
import { operations } from '../src/operations.ts'

const target = fileURLToPath(new URL('../../contract/samples/sdk/calls.json', import.meta.url))
const source = fileURLToPath(new URL('../src/', import.meta.url))
const resources = readdirSync(`${source}resources`).map((name) => `${source}resources/${name}`)
const examples = new Map([`${source}client.ts`, ...resources].flatMap(examplesOf))

const calls = Object.entries({ ...operations, ...laterOperations })
  .filter(([, { outside }]) => !outside)
  .map(([name, { method, path }]): [string, string] => [`${method} ${path}`, exampleOf(name)])
const rendered = `${JSON.stringify(Object.fromEntries(calls), null, 2)}\n`

if (!process.argv.includes('--check')) {
  writeFileSync(target, rendered)
} else if (readFileSync(target, 'utf8') !== rendered) {
  console.error('calls.json does not match the examples: run `pnpm --filter @stet/sdk samples`')
  process.exitCode = 1
}

function exampleOf(operation: string): string {
  // `conversations.chat` is the same function, as a property.
  const [resource = '', method] = (operation === 'conversations.chat' ? 'prompts.chat' : operation).split('.')
  const owner = method === undefined ? 'Stet' : `${resource.charAt(0).toUpperCase()}${resource.slice(1)}`
  const found = examples.get(`${owner}.${method ?? resource}`)
  if (found === undefined) throw new Error(`The client's method of ${operation} has no example`)
  return found
}

/** Returns the examples of a file's classes, as `Class.method`. */
function examplesOf(file: string): [method: string, example: string][] {
  const parsed = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  return parsed.statements.filter(ts.isClassDeclaration).flatMap((owner) =>
    owner.members.flatMap((member) => {
      const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'example')
      if (!tag || !member.name) return []
      return [[`${owner.name?.text}.${member.name.getText()}`, ts.getTextOfJSDocComment(tag.comment) ?? '']]
    }),
  )
}
