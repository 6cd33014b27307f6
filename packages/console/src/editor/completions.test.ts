import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { expect, test } from 'vitest'
import { completePromptl } from './completions.ts'

const models = [{ id: 'b-2' }, { id: 'a-1' }, { id: 'c-0', deprecated: true as const }].map((model) => ({
  ...model,
  inputPrice: null,
  outputPrice: null,
}))

const complete = completePromptl(() => ({
  parameters: ['customer'],
  providers: [{ name: 'ours', provider: 'custom', defaultModel: null, isDemo: false, models }],
  paths: ['support/tone', 'support/reply'],
}))

/** The completions offered at `|` that start like the typed word. */
async function offered(marked: string) {
  const at = marked.indexOf('|')
  const text = marked.replace('|', '')
  const found = await complete(new CompletionContext(EditorState.create({ doc: text }), at, false))
  const typed = text.slice(found?.from ?? at, at)
  return (found?.options ?? []).filter(({ label }) => label.startsWith(typed))
}

const labels = async (marked: string) => (await offered(marked)).map(({ label }) => label)

test.each([
  ['{{ cus|', 'customer'],
  ['{{cus|', 'customer'],
  ['{{ i|', 'if'],
  ['<us|', '<user>'],
  ['<prompt path="/sup|', '/support/tone'],
  ['---\nmod|\n---\n', 'model'],
  ['---\nmod|', 'model'],
  ['---\nprovider: ours\nmod|\n\nHello', 'model'],
  ['---\nmodel: x\nHello {{ cus|', 'customer'],
  ['---\nprovider: o|\n', 'ours'],
  ['---\ntype: ag|\n---\n', 'agent'],
  ['---\nparameters:\n  a: { type: im|\n', 'image'],
  ['---\nparameters:\n  a: { required: |\n', 'true'],
  ['---\nschema:\n  properties:\n    type: { type: st|\n---\n', 'string'],
  ['---\ntools:\n  - find: { parameters: { type: ob| } }\n---\n', 'object'],
])('after %j, %s is offered', async (text, label) => expect(await labels(text)).toContain(label))

test.each([
  ['a tag that the language takes for text', '<dev|'],
  ['a plain word', 'Hello cus|'],
  ['a plain word below front matter without an end', '---\nmodel: x\n\nmod|'],
  ['a type of parameters in a schema', '---\nschema:\n  type: im|\n---\n'],
])('%s is not completed', async (_, text) => expect(await labels(text)).toEqual([]))

test('models keep the order of their list, and deprecated ones are last and marked', async () => {
  const found = await offered('---\nprovider: ours\nmodel: |\n---\n')
  expect(found.map(({ label, detail, boost = 0 }) => [label, detail, boost])).toEqual([
    ['b-2', 'ours', 0],
    ['a-1', 'ours', 0],
    ['c-0', 'ours, deprecated', -99],
  ])
  const order = found.map(({ sortText = '' }) => sortText)
  expect(order).toEqual([...order].sort())
})
