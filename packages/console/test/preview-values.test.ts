import { expect, test } from 'vitest'
import { scan, step } from '../../template/src/index.ts'
import { readParameters } from '../../template/src/rendering/read-parameters.ts'
import { previewValues, splitMarks } from '../src/editor/panes/preview-values.ts'
import { inputsOf } from '../src/runs/inputs/input-value.ts'

/** The parts of the prompt's first message, with the names of inputs that are not set in brackets. */
function previewOf(content: string, set: Record<string, unknown> = {}) {
  const source = { path: 'a', content, documents: {} }
  const { config, parameters: names } = scan(source)
  const declared: Record<string, unknown> = Object(config['parameters'])
  const all = [...new Set([...Object.keys(declared), ...names])]
  const inputs = inputsOf({ config, parameters: Object.fromEntries(all.map((name) => [name, { type: 'text' }])) })
  const { parameters, unset } = previewValues(inputs, set, content)
  const read = readParameters(config, parameters)
  if ('problem' in read) throw new Error(read.problem.message)
  const rendered = step(source, { parameters: read.values, now: '2026-01-01T00:00:00Z' })
  const shown = (text: string) =>
    splitMarks(text)
      .map((part, at) => (at % 2 ? `[${part}]` : part))
      .join('')
  if (rendered.done) throw new Error('The prompt rendered no message')
  const parts = rendered.input.flatMap(({ content }) => content.map((part) => part['text'] ?? part['image'] ?? ''))
  return { unset, parts: parts.map((part) => shown(String(part))) }
}

test.each([
  ['text', '{{ name }}, {{ other }}!', { name: 'Ana' }, ['Ana, [other]!']],
  ['an empty text that is set', '<{{ name }}>', { name: '' }, ['<>']],
  ['a default', '---\nparameters: { a: { default: x } }\n---\n{{ a }}', {}, ['x']],
  ['required', '---\nparameters: { a: { required: true } }\n---\n{{ a }}', {}, ['[a]']],
  ['a list without a declaration', '{{ for x in list }}- {{ x }}{{ endfor }}', {}, ['- [list]']],
  ['a list', '---\nparameters: { l: array }\n---\n{{ for x in l }}{{ x }}{{ endfor }}', {}, ['[l]']],
  ['a number and a switch', '---\nparameters: { n: integer, b: boolean }\n---\n{{ n + 1 }} {{ b }}', {}, ['1 false']],
  ['an object', '---\nparameters: { o: object }\n---\n<{{ o.name }}>', {}, ['<>']],
  [
    'an image',
    '---\nparameters: { i: image }\n---\n<user><content-image>{{ i }}</content-image></user>',
    {},
    ['data:,[i]'],
  ],
])('an input that is not set has a stand-in, of which text is marked: %s', (_, content, set, parts) => {
  expect(previewOf(content, set).parts).toEqual(parts)
})

test('the inputs that are not set are named', () => {
  expect(previewOf('---\nparameters: { n: number, d: { default: 1 } }\n---\n{{ n }}{{ d }}{{ t }}').unset).toEqual([
    'n',
    't',
  ])
})
