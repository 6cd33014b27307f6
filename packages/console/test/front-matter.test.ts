import { expect, test } from 'vitest'
import { compilePrompt } from '../../template/src/index.ts'
import { frontMatterOf, scalarOf, withScalar } from '../src/editor/text/front-matter.ts'

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
