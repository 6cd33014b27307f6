/** Steps beyond the corpus of the server package, which has the rules of steps, messages and parts. */
import { describe, expect, it } from 'vitest'
import { readConfig } from '../src/front-matter/config.ts'
import { step } from '../src/index.ts'
import { chainOf, messagesOf } from './support.ts'

describe('steps', () => {
  it('keeps the front matter where an attribute has no value', async () => {
    const [first] = await chainOf('---\nmodel: m\n---\n<step model={{ none }} extra={{ none }}>a</step>', [])
    expect(first).toMatchObject({ config: { model: 'm', extra: undefined } })
  })

  it.each(['top_p', 'topP'])("ranks a run's overrides above the front matter and below the attribute %s", (key) => {
    const content = `---\nmodel: m\ntop_p: 1\n---\n<step ${key}={{ 0.2 }}>a</step>`
    const overrides = { model: 'n', topP: 0.5 }
    const source = { path: 'a', content, documents: {} }
    const first = step(source, { parameters: {}, now: '2026-01-01T00:00:00Z', overrides })
    expect(readConfig('config' in first ? first.config : {}, () => {})).toMatchObject({
      model: 'n',
      settings: { topP: 0.2 },
    })
  })
})

describe('depth of values', () => {
  const nested = (depth: number): string => `{{ o = 1 }}${'{{ o = [o] }}'.repeat(depth)}`

  it.each([
    ['an attribute', '<user meta={{ o }}>x</user>'],
    ['the configuration of a step', '<step meta={{ o }}>x</step>'],
    ['a variable of a chain', '<step>x</step>'],
    ['arguments', '<assistant><tool-call id="1" name="f" arguments={{ { o } }} /></assistant>'],
  ])('is limited in %s', async (_name, content) => {
    expect(await messagesOf(nested(60) + content)).toHaveLength(1)
    await expect(messagesOf(nested(70) + content)).rejects.toMatchObject({ issue: { code: 'limit-exceeded' } })
  })

  it('has no limit for values printed as text', async () => {
    expect(await messagesOf(`${nested(70)}{{ o }}`)).toHaveLength(1)
  })
})

it('shows files of a list as parts', async () => {
  const file = { url: 'https://h/x.pdf', isImage: false, mimeType: 'application/pdf' }
  const [message] = await messagesOf('<user>{{ [f, f] }}</user>', { f: { __promptlType: 'file', ...file } })
  const part = { type: 'file', file: file.url, mimeType: file.mimeType }
  expect(message?.content).toEqual([part, part])
})
