import { describe, expect, it } from 'vitest'
import { chainOf, inputTexts, messagesOf } from './support.ts'

describe('steps', () => {
  it('merges attributes over the front matter for that model call only', async () => {
    const content = '---\nmodel: m\ntemperature: 1\n---\n<step model="n" as="x">a</step>{{ x }} b'
    const [first, second, third] = await chainOf(content, ['one', 'two'])
    expect(first).toMatchObject({ done: false, config: { model: 'n', temperature: 1 } })
    expect(second).toMatchObject({ done: false, config: { model: 'm', temperature: 1 } })
    expect(inputTexts(second)).toEqual(['a', 'one', 'one b'])
    expect(third).toEqual({ done: true, added: [] })
  })

  it('keeps the front matter where an attribute has no value', async () => {
    const [first] = await chainOf('---\nmodel: m\n---\n<step model={{ none }} extra={{ none }}>a</step>', [])
    expect(first).toMatchObject({ config: { model: 'm', extra: undefined } })
  })

  it('stores the message in `raw`, and only the final answer in `as`', async () => {
    const turns = [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'calling' },
          { type: 'tool-call', toolCallId: '1', toolName: 'f', args: {} },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: 'f', result: 'secret' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'final' }] },
    ]
    const [, second] = await chainOf('<step as="x" raw="y">q</step>[{{ x }}][{{ y.role }} {{ y.content[0].text }}]', [
      turns,
    ])
    if (!second || second.done) throw new Error('There is a second step')
    expect(second.input.slice(1, 4)).toEqual(turns)
    expect(second.added).toEqual([{ role: 'system', content: [{ type: 'text', text: '[final][assistant final]' }] }])
  })

  it('excludes isolated steps from the history', async () => {
    const content = 'before<step isolated as="x">alone</step>after {{ x }}'
    const [first, second, third] = await chainOf(`<step>start</step>${content}`, ['s', 'isolated answer'])
    expect(inputTexts(first)).toEqual(['start'])
    expect(inputTexts(second)).not.toContain('start')
    expect(second).not.toHaveProperty('config.isolated')
    expect(inputTexts(third)).toEqual(['start', 's', 'after isolated answer'])
  })

  it('makes one model call per loop iteration and keeps variables between processes', async () => {
    const content =
      '{{ d = $now }}{{ for n in [1, 2] }}<step as="x">{{ n }} {{ d.getUTCFullYear() }}</step>{{ x }}{{ endfor }}[{{ x }}]'
    const steps = await chainOf(content, ['a', 'b', 'c'])
    expect(steps.map((step) => inputTexts(step).at(-1))).toEqual(['1 2026', '2 2026', 'b[]', undefined])
    expect(steps.map((step) => step.done)).toEqual([false, false, false, true])
  })

  it('runs a step inside a condition', async () => {
    const steps = await chainOf('{{ if a }}<step as="x">yes</step>{{ x }}{{ else }}<step>no</step>{{ endif }}', ['r'], {
      a: true,
    })
    expect(inputTexts(steps[1])).toEqual(['yes', 'r', 'r'])
  })

  it('reports the position of a step whose answer is not the requested JSON', async () => {
    const run = chainOf('x\n<step as="x" schema={{ { type: "object" } }}>q</step>', ['no json'])
    await expect(run).rejects.toMatchObject({ issue: { code: 'invalid-step-response-format', line: 2, column: 1 } })
  })

  it('is not done at the first step, even without a message', async () => {
    expect(await chainOf('---\nmodel: m\n---\n', [])).toMatchObject([
      { done: false, input: [], config: { model: 'm' } },
    ])
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

describe('messages and parts', () => {
  const file = { __promptlType: 'file', url: 'https://h/x.pdf', isImage: false, mimeType: 'application/pdf' }
  const sent = { type: 'file', file: file.url, mimeType: file.mimeType }
  const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more })
  const called = (args: object) => ({ type: 'tool-call', toolCallId: '1', toolName: 'f', args })
  const result = { type: 'tool-result', toolCallId: '1', toolName: 'f', result: 'ok' }
  const cached = { cache_control: { type: 'ephemeral' } }
  const image = (url: string) => ({ type: 'image', image: url })

  it.each<[name: string, content: string, role: string, parts: object[], more?: object]>([
    ['bare text', 'hi', 'system', [text('hi')]],
    ['an expression as role', '<message role={{ r }}>a</message>', 'developer', [text('a')]],
    [
      'further attributes',
      '<user name="bo" cache_control={{ { type: "ephemeral" } }}>a</user>',
      'user',
      [text('a')],
      { name: 'bo', ...cached },
    ],
    ['attributes of parts', '<user><content-text k="v">a</content-text></user>', 'user', [text('a', { k: 'v' })]],
    [
      'images and files',
      '<user><content-image>data:x</content-image><content-file mime="a/b">u</content-file></user>',
      'user',
      [image('data:x'), { type: 'file', file: 'u', mimeType: 'a/b' }],
    ],
    ['a part by type', '<user><content type="image">u</content></user>', 'user', [image('u')]],
    ['a file parameter', '<user>see {{ f }}</user>', 'user', [text('see'), sent]],
    ['files of a list', '<user>{{ [f, f] }}</user>', 'user', [sent, sent]],
    [
      'a tool call',
      '<assistant><tool-call id="1" name="f" arguments={{ { a: 1 } }} /></assistant>',
      'assistant',
      [called({ a: 1 })],
    ],
    [
      'a tool call with text arguments',
      '<assistant><tool-call id="1" name="f" arguments=\'{"a":1}\' /></assistant>',
      'assistant',
      [called({ a: 1 })],
    ],
    ['a call without arguments', '<assistant><tool-call id="1" name="f" /></assistant>', 'assistant', [called({})]],
    ['a tool message', '<tool id="1" name="f">ok</tool>', 'tool', [result]],
    ['unknown tags', 'a <e>b</e> <User>c</User>', 'system', [text('a <e>b</e> <User>c</User>')]],
    ['escapes', '\\{{ a }} \\\\ \\<user>', 'system', [text('{{ a }} \\ <user>')]],
    ['objects, null and nothing', '{{ o }} {{ null }} [{{ none }}]', 'system', [text('{"a":1} null []')]],
  ])('%s', async (_name, content, role, parts, more) => {
    const messages = await messagesOf(content, { r: 'developer', f: file, o: { a: 1 } })
    expect(messages).toEqual([{ role, content: parts, ...more }])
  })
})
