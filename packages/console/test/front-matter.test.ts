import { expect, test } from 'vitest'
import { compilePrompt } from '../../template/src/index.ts'
import { frontMatterOf } from '../src/editor/text/front-matter.ts'
import { keysAt, scalarOf, withParameter, withScalar } from '../src/editor/text/yaml.ts'

const config = (content: string) => compilePrompt({ path: 'hello', content, documents: {} }).config

test.each([
  ['as it is usually written', '---\nprovider: demo\n---\nHello'],
  ['with Windows line ends', '---\r\nprovider: demo\r\n---\r\nHello'],
  ['with old line ends', '---\rprovider: demo\rmodel: x\r---\rHello'],
  ['a key on the first line', '---provider: demo\n---\nHello'],
  ['text on the last line', '---\nprovider: demo\n---Hello'],
  ['a longer last line', '---\nprovider: demo\n-----\nHello'],
  ['an indented last line', '---\nprovider: demo\n  ---\nHello'],
  ['after comments', '/* ours */ <!-- --- -->\n---\nprovider: demo\n---\nHello'],
  ['a byte order mark', '\uFEFF---\nprovider: demo\n---\nHello'],
  ['indented', '\n  ---\n  provider: demo\n  ---\nHello'],
  ['blank lines', '---\n\nprovider: demo\n\n\n---\nHello'],
  ['a quoted key and value', '---\n"provider": \'demo\' # ours\n---\nHello'],
  ['as JSON', '---\n{ "provider": "demo" }\n---\nHello'],
  ['an empty value', '---\nprovider: # none\n---\nHello'],
  ['a value on its own line', '---\nprovider: >-\n  demo\nname: x\n---\nHello'],
  ['the same key further inside', '---\nschema:\n  provider: other\n---\nHello'],
  ['empty', '---\n---\nHello'],
  ['blank lines only', '---\n\n\n---\nHello'],
  ['more than three dashes', '----\nprovider: demo\n----\nHello'],
  ['later in the text', 'Hello\n---\nprovider: demo\n---\nHello'],
  ['without front matter', 'Hello'],
])('front matter is read and changed as the server reads it: %s', (_, text) => {
  const before = config(text)
  expect(scalarOf(text, 'provider') || null).toBe(before['provider'] ?? null)
  for (const [key, value] of [
    ['provider', 'openai'],
    ['model', 'a: b'],
    ['temperature', 0.5],
  ] as const) {
    const edited = withScalar(text, key, value)
    expect(config(edited)).toEqual({ ...before, [key]: value })
    expect(scalarOf(edited, key)).toBe(String(value))
    expect(edited.endsWith('Hello')).toBe(true)
    expect(config(withScalar(edited, key, null))[key] ?? null).toBe(null)
  }
})

test('a changed or removed value leaves every other character as it is', () => {
  const text = '---\n# first\nprovider:   openai # ours\n\ntemperature: 0.30\nstop: [ "a",b ]\n---\nHello'
  expect(withScalar(text, 'provider', 'demo')).toBe(text.replace('openai', 'demo'))
  expect(scalarOf(text, 'temperature')).toBe('0.30')
  expect(withScalar(text, 'temperature', null)).toBe(text.replace('temperature: 0.30\n', ''))
  expect(withScalar(text, 'model', null)).toBe(text)
})

test.each([
  ['---', '---\nmodel: x\n'],
  ['---\nprovider: demo', '---\nprovider: demo\nmodel: x\n'],
  ['---\nprovider: demo\n\nHello', '---\nprovider: demo\nmodel: x\n\nHello'],
])('front matter without an end ends before the first blank line: %j', (text, expected) => {
  expect(withScalar(text, 'model', 'x')).toBe(expected)
})

test('hostile front matter is taken for empty, in time that grows with its length', () => {
  for (const yaml of ['['.repeat(60_000), `${'{a: '.repeat(20_000)}`, '- '.repeat(30_000), 'a: 1\n'.repeat(60_000)])
    expect(scalarOf(`---\n${yaml}\n---\n`, 'model')).toBe(null)
  expect(frontMatterOf(`/* */${'/* */ '.repeat(20_000)}Hello`)).toBe(null)
  expect(frontMatterOf(`---\n${'a\n\n \n'.repeat(20_000)}`)).toEqual({ from: 4, to: 6 })
})

test.each([
  ['no declarations', '---\nprovider: demo\n---\n'],
  ['nothing declared yet', '---\n  provider: demo\n  parameters:\n  model: x\n---\n'],
  ['lines', '---\nparameters:\n  # the first\n  a: { type: text } # { here }\n---\n'],
  ['deeper lines', '---\r\n  parameters: # ours\r\n      a:\r\n        type: text\r\n---\r\n'],
  ['one line', '---\nparameters: { a: { type: text } }\n---\n'],
  ['an empty map', '---\nparameters: {}\n---\n'],
  ['a map over several lines', '---\nparameters: {\n  a: { type: text }, # }\n  b: text,\n}\nmodel: demo\n---\n'],
  ['an empty map over two lines', '---\nparameters: {\n}\n---\n'],
  ['JSON', '---\n{ "provider": "demo" }\n---\n'],
  ['JSON with declarations', '---\n{ "parameters": {"a":"text"} }\n---\n'],
  ['no front matter', ''],
])('a parameter is declared beside the others: %s', (_, text) => {
  const before = Object(config(`${text}Hello`))
  const after = config(`${withParameter(text, 'name')}Hello`)
  expect(after).toEqual({ ...before, parameters: { ...before.parameters, name: { type: 'text' } } })
})

test.each([
  ['---\nmodel: |\n---\n', 'model'],
  ['---\nparameters:\n  a: { type: te|\n\nHello', 'parameters a type'],
  ['---\nschema:\n  properties:\n    b:\n      type: |\nname: x\n---\n', 'schema properties b type'],
  ['---\ntools:\n  - get:\n      parameters: { type: | }\n---\n', 'tools get parameters type'],
])('the keys at the cursor are found: %j', (marked, keys) => {
  expect(keysAt(marked.replace('|', ''), marked.indexOf('|')).join(' ')).toBe(keys)
})
