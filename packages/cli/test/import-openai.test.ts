import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { frontOf, importFrom, personWith } from './support/imported.ts'

const tools = [{ type: 'function', name: 'find', parameters: { type: 'object' }, strict: true }]

/** Imports a prompt with these settings. Returns its front matter and the report. */
async function settingsOf(settings: Record<string, unknown>) {
  const { read, losses } = await importFrom('openai', {
    'in.json': JSON.stringify({ name: 'p', input: 'Hi', ...settings }),
  })
  return { front: frontOf(await read('p')), losses: losses('p') }
}

test.each([
  [{ tools, parallel_tool_calls: false }, { parallelToolCalls: false }],
  [{ tools, tool_choice: 'required' }, { toolChoice: 'required' }],
  [{ tools, tool_choice: { type: 'function', name: 'find' } }, { toolChoice: { type: 'function', name: 'find' } }],
  [{ maxTurns: 4 }, { maxSteps: 4 }],
  [{ max_turns: 150 }, { maxSteps: 150 }],
  [{ reasoning: { effort: 'low', summary: 'auto' } }, { reasoningEffort: 'low', reasoningSummary: 'auto' }],
  [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
  [{ thinkingConfig: { thinkingBudget: 9 } }, { thinkingConfig: { thinkingBudget: 9 } }],
  [{ safety_settings: { category: 'a' } }, { safetySettings: { category: 'a' } }],
  [
    { temperature: '0.5', max_output_tokens: 9 },
    { temperature: '0.5', maxTokens: 9 },
  ],
])('settings that stet supports are mapped: %j', async (settings, front) => {
  const { front: found, losses } = await settingsOf(settings)
  expect(found).toMatchObject(front)
  expect(losses.filter((loss) => !loss.startsWith('The setting "strict" of the tool'))).toEqual([])
})

test.each([
  [{ tools, tool_choice: { type: 'file_search' } }, 'tool_choice', '{"type":"file_search"}'],
  [{ tools, parallel_tool_calls: 'no' }, 'parallel_tool_calls', '"no"'],
  [{ maxTurns: 151 }, 'maxTurns', '151'],
  [{ safetySettings: [{ category: 'a', threshold: 'b' }] }, 'safetySettings', '[{"category":"a","threshold":"b"}]'],
  [{ temperature: 'hot' }, 'temperature', '"hot"'],
  [{ stop: 7 }, 'stop', '7'],
  [{ text: { verbosity: 'low' } }, 'text.verbosity', '"low"'],
  [{ service_tier: 'flex' }, 'service_tier', '"flex"'],
])('settings that stet lacks, or values that a run would refuse, are reported: %j', async (settings, name, value) => {
  const { front, losses } = await settingsOf(settings)
  expect(Object.keys(front ?? {}).filter((key) => key !== 'tools')).toEqual([])
  expect(losses).toContain(`The setting "${name}" is not supported: ${value}`)
})

test('strict formats stay strict without a word, and their name and description move into the schema', async () => {
  const schema = { type: 'object', properties: {}, required: [], additionalProperties: false }
  const format = { type: 'json_schema', name: 'a', strict: true, description: 'An answer', schema }
  expect(await settingsOf({ text: { format } })).toEqual({
    front: { schema: { title: 'a', description: 'An answer', ...schema } },
    losses: [],
  })
  const loose = await settingsOf({ text: { format: { ...format, strict: false } } })
  expect(loose.losses).toEqual(['The setting "strict" of the response format is not supported: false'])
  const builtin = await settingsOf({ tools: [{ type: 'web_search' }], tool_choice: 'required' })
  expect(builtin.losses).toContain('The setting "tool_choice" was dropped, because no tool is left: "required"')
  // Without tools, these have no meaning.
  const plain = await settingsOf({ tools: [], tool_choice: 'auto', parallel_tool_calls: true })
  expect(plain).toEqual({ front: null, losses: [] })
})

test('tool calls, tool results and files of the input are kept', async () => {
  const input = [
    {
      role: 'user',
      content: [
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
        { type: 'input_image', image_url: 'https://example.com/{{what}}', detail: 'high' },
        { type: 'image_url', image_url: { url: 'https://example.com/b', detail: 'low' }, extra: 1 },
      ],
    },
    { type: 'function_call', call_id: 'c1', name: 'find', arguments: '{"id": 1}', status: 'completed' },
    { type: 'function_call_output', call_id: 'c1', output: 'found {{what}}' },
    { type: 'item_reference', id: 'x' },
  ]
  const { read, losses } = await importFrom('openai', { 'in.json': JSON.stringify({ name: 'p', input }) })
  const text = await read('p')
  expect(text).toContain(
    '<content-file mime="application/pdf" name="a.pdf">data:application/pdf;base64,AA==</content-file>',
  )
  expect(text).toContain('<content-image detail="high">https://example.com/{{ what }}</content-image>')
  expect(text).toContain('<content-image detail="low">https://example.com/b</content-image>')
  expect(text).toContain('<tool-call id="c1" name="find" arguments={{ {"id":1} }} />')
  expect(text).toContain('<tool id="c1" name="find">\nfound {{ what }}\n</tool>')
  expect(losses('p')).toEqual([
    'The key "extra" of a part is not supported: 1',
    'An item of the input is not supported: {"type":"item_reference","id":"x"}',
  ])
})

test('the id of OpenAI is the path of the default or newest version, and each version has a path', async () => {
  const prompts = [
    { id: 'pmpt_1', version: '2', name: 'Support', input: 'Two' },
    { id: 'pmpt_1', version: '10', input: 'Ten' },
    { id: 'pmpt_2', version: '1', is_default: true, input: 'Default', other: 1 },
    { id: 'pmpt_2', version: '3', input: 'Newest' },
    { id: 'pmpt_3', input: 'Without a version' },
    { id: 'other', name: 'named', input: 'x' },
  ]
  const person = await personWith({ 'in.json': JSON.stringify(prompts), 'stet.config.json': '{"projectId": 7}' })
  const { code, stdout } = await person.stet(['import', 'openai', 'in.json', '--json'])
  expect(code).toBe(0)
  const { files, losses } = JSON.parse(stdout)
  const textOf = (path: string) => readFile(join(person.folder, 'prompts', `${path}.promptl`), 'utf8')
  const texts: Record<string, string | undefined> = {}
  for (const { path } of files) texts[path] = (await textOf(path)).trim().split('\n').at(-2)
  expect(texts).toEqual({
    ...{ pmpt_1: 'Ten', 'pmpt_1/v2': 'Two', 'pmpt_1/v10': 'Ten' },
    ...{ pmpt_2: 'Default', 'pmpt_2/v1': 'Default', 'pmpt_2/v3': 'Newest' },
    ...{ pmpt_3: 'Without a version', named: 'x' },
  })
  expect(await textOf('pmpt_1/v2')).toContain('description: Support')
  expect(losses.map(({ path }: { path: string }) => path)).toEqual(['pmpt_2'])
})
