import { expect, test } from 'vitest'
import { frontOf, importFrom, render } from './support/imported.ts'

/** Imports one production version of each prompt. */
function importPrompts(prompts: Record<string, unknown>) {
  const versions = Object.entries(prompts).map(([name, prompt]) => ({
    name,
    prompt,
    version: 1,
    labels: ['production'],
  }))
  return importFrom('langfuse', { 'in.json': JSON.stringify(versions) })
}

test('only names of Langfuse are variables: other text in braces stays as it is', async () => {
  const json = '{{ "some": "thing", "list": [{{"a": 1}}] }} {{}} {{ }} {{{{x y}}}} {"a": {{name}}}'
  const { read, losses } = await importPrompts({ json, names: '{{name}}, {{ größe }}, {{\n名前\n}}, {{_x}} {{1st}}' })
  const text = await read('json')
  expect(Object.keys(frontOf(text)['parameters'] ?? {})).toEqual(['name'])
  expect(await render(text, { name: 'Ana' })).toEqual([{ role: 'user', text: json.replace('{{name}}', 'Ana') }])
  const names = await read('names')
  expect(frontOf(names)['parameters']).toEqual({
    name: { type: 'text' },
    größe: { type: 'text' },
    名前: { type: 'text' },
  })
  expect(await render(names, { name: 'Ana', größe: 'XL', 名前: '花' })).toEqual([
    { role: 'user', text: 'Ana, XL, 花, {{_x}} {{1st}}' },
  ])
  const stays = (tag: string) =>
    `${tag} is not a variable in Langfuse and stays as text: names begin with a letter, then letters, digits and "_"`
  expect(losses('names')).toEqual([stays('{{_x}}'), stays('{{1st}}')])
  // Quoted text is JSON, not a variable with a wrong name.
  expect(losses('json')).toEqual([stays('{{x y}}')])
})

test.each([
  'a {{name}}<tool-call',
  '<user{{name}}',
  '}}{ {{name}}{',
  '{{{',
  '--- {{name}} /* <!-- \\',
  '<prompt path="0" />',
])('text that looks like a tag, a comment or an expression stays text: %j', async (text) => {
  const { read, losses } = await importPrompts({ text: `x${text}` })
  expect(await render(await read('text'), { name: '</user>' })).toEqual([
    { role: 'user', text: `x${text.replace('{{name}}', '</user>')}` },
  ])
  expect(losses('text')).toEqual([])
})

test('every name that Langfuse allows compiles, and two names never become one without a report', async () => {
  const names =
    `format iffy elsewhere endiffoo forename if else for in endif endfor this null constructor toString await
    enum static let yield super of as async undefined NaN größe`.split(/\s+/)
  const { read, losses } = await importPrompts({ words: names.map((name) => `{{${name}}}`).join(' ') })
  const text = await read('words')
  expect(losses('words').filter((loss) => !loss.includes('is now named'))).toEqual([])
  const renamed = new Map(losses('words').map((loss) => [loss.split('"')[1], loss.split('"')[3] ?? '']))
  const values = Object.fromEntries(names.map((name) => [renamed.get(name) ?? name, `<${name}>`]))
  expect(Object.keys(values)).toHaveLength(names.length)
  expect(await render(text, values)).toEqual([{ role: 'user', text: names.map((name) => `<${name}>`).join(' ') }])
  const same = await importPrompts({ same: '{{in}} {{inValue}} {{in}}' })
  expect(same.losses('same')).toEqual([
    'The variable "in" is now named "inValue"',
    'The variables "in" and "inValue" are now both named "inValue": rename one, and import again',
  ])
})

test('braces around a variable stay, and are reported because the TypeScript client drops them', async () => {
  const { read, losses } = await importPrompts({ raw: 'a {{{raw}}} \\{{{{ raw }}}} {{{raw}}}' })
  expect(await render(await read('raw'), { raw: 'R' })).toEqual([{ role: 'user', text: 'a {R} \\{{R}} {R}' }])
  expect(losses('raw')).toEqual([
    '{{{raw}}} keeps its outer braces, as in Langfuse: write {{raw}} if your code expects the value alone',
    '{{{{ raw }}}} keeps its outer braces, as in Langfuse: write {{ raw }} if your code expects the value alone',
  ])
})

test('tool calls, tool results and message names are kept; other keys are reported', async () => {
  const call = (id: string, args: unknown) => ({ id, type: 'function', function: { name: 'look"up', arguments: args } })
  const { read, losses } = await importPrompts({
    openai: [
      { role: 'user', content: 'Where is {{order}}?', name: 'ana' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('c1', '{"id": "}} </assistant> {{order}}", "a-b": [1, null]}')],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'On the way to {{city}}' },
      { role: 'model', content: 'Soon.', refusal: null },
    ],
    playground: [
      {
        type: 'assistant-tool-call',
        role: 'assistant',
        content: 'One moment',
        toolCalls: [{ id: 'a"1', name: 'find', args: {} }],
      },
      { type: 'tool-result', role: 'tool', content: '7', toolCallId: 'a"1', _meta: 1 },
    ],
    odd: [
      { role: 'assistant', content: '', tool_calls: [call('c2', '{broken'), 7] },
      { role: 'tool', tool_call_id: 'c9', content: 'late' },
      { role: 'my role', content: 'x' },
      { name: 'history' },
    ],
  })
  expect(await render(await read('openai'), { order: '7', city: 'Rome' })).toEqual([
    { role: 'user', text: 'Where is 7?' },
    { role: 'assistant', text: expect.stringContaining('"args":{"id":"}} </assistant> {{order}}","a-b":[1,null]}') },
    {
      role: 'tool',
      text: expect.stringMatching(/"toolCallId":"c1","toolName":"look\\"up","result":"On the way to Rome"/),
    },
    { role: 'assistant', text: 'Soon.' },
  ])
  expect(await read('openai')).toContain('<user name="ana">')
  expect(losses('openai')).toEqual([])
  expect(await render(await read('playground'), {})).toEqual([
    { role: 'assistant', text: expect.stringContaining('One moment {"type":"tool-call","toolCallId":"a\\"1"') },
    { role: 'tool', text: expect.stringContaining('"toolCallId":"a\\"1","toolName":"find","result":"7"') },
  ])
  expect(losses('playground')).toEqual(['The key "_meta" of a message is not supported: 1'])
  expect(losses('odd')).toEqual([
    'The arguments of the tool call "c2" are not a JSON object and were dropped: "{broken"',
    'A tool call is not supported: 7',
    'The tool result "c9" has no tool call before it: its tool is now named "unknown"',
    'The role "my role" does not exist in stet: now it has the role user',
    expect.stringContaining('The message placeholder "history"'),
  ])
})
