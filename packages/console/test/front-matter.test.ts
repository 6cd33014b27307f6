import { expect, test } from 'vitest'
import { compilePrompt } from '../../template/src/index.ts'
import { frontMatterOf, scalarOf, withParameter, withScalar } from '../src/editor/text/front-matter.ts'

const config = async (content: string) =>
  (await compilePrompt({ path: 'hello', content, documents: {} })).config as Record<string, unknown>

test.each([
  ['as it is usually written', '---\nprovider: demo\n---\nHello'],
  ['with Windows line ends', '---\r\nprovider: demo\r\n---\r\nHello'],
  ['a key on the first line', '---provider: demo\n---\nHello'],
  ['text on the last line', '---\nprovider: demo\n---Hello'],
  ['a longer last line', '---\nprovider: demo\n-----\nHello'],
  ['an indented last line', '---\nprovider: demo\n  ---\nHello'],
  ['after a comment', '/* ours */\n---\nprovider: demo\n---\nHello'],
  ['a byte order mark', '\uFEFF---\nprovider: demo\n---\nHello'],
  ['indented', '\n  ---\n  provider: demo\n  ---\nHello'],
  ['empty', '---\n---\nHello'],
  ['empty lines only', '---\n\n\n---\nHello'],
  ['without an end', '---\nprovider: demo\nHello'],
  ['two dashes at the end', '---\nprovider: demo\n--\nHello'],
  ['later in the text', 'Hello\n---\nprovider: demo\n---'],
  ['without front matter', 'Hello'],
])('front matter is read as the server reads it: %s', async (_, text) => {
  const provider = (await config(text))['provider']
  expect(scalarOf(text, 'provider')).toBe(provider ?? null)
  if (!frontMatterOf(text)) return
  for (const [key, value] of [
    ['provider', 'openai'],
    ['model', 'gpt-4o'],
  ] as const) {
    const edited = withScalar(text, key, value)
    expect(await config(edited)).toMatchObject({ ...(provider !== undefined && { provider }), [key]: value })
    expect(edited.endsWith('Hello')).toBe(true)
  }
})

test.each([
  ['no declarations', '---\nprovider: demo\n---\n'],
  ['lines', '---\nparameters:\n  a: { type: text }\n---\n'],
  ['one line', '---\nparameters: { a: { type: text } }\n---\n'],
  ['an empty map', '---\nparameters: {}\n---\n'],
  ['a map over several lines', '---\nparameters: {\n  a: { type: text }\n}\nmodel: demo\n---\n'],
  ['a map that ends with a comma', '---\nparameters: {\n  a: { type: text },\n}\n---\n'],
  ['a map with a comment', '---\nparameters: {\n  a: { type: text } # the first }\n}\n---\n'],
  ['a map with quoted braces', '---\nparameters: {\n  a: { type: text, description: "} # {" }\n}\n---\n'],
  ['a map that ends in its last line', '---\nparameters: { a: { type: text },\n  c: { type: text } }\n---\n'],
  ['an empty map over two lines', '---\nparameters: {\n}\n---\n'],
  ['Windows line ends', '---\r\nparameters: {\r\n  a: { type: text }\r\n}\r\n---\r\n'],
])('a parameter is declared beside the others: %s', async (_, text) => {
  const before = Object(await config(`${text}Hello`)).parameters ?? {}
  const after = await config(`${withParameter(text, 'name')}Hello`)
  expect(after['parameters']).toEqual({ ...before, name: { type: 'text' } })
})
