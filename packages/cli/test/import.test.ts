import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { step } from '@stet/template'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { problemOfPath } from '../src/sync/prompt-path.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
const nowhere = { address: 'http://127.0.0.1:1' }

interface Imported {
  files: { path: string; file: string; action: string }[]
  losses: { path: string; source: string | null; message: string }[]
}

/** Runs an import without a server. Returns its files and messages. */
async function importFrom(...args: string[]) {
  const person = new Person(await temporaryFolder(), nowhere)
  const ended = await person.stet(['import', ...args, '--json'])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const data: Imported = JSON.parse(ended.stdout)
  const read = (path: string) => readFile(join(person.folder, 'prompts', `${path}.promptl`), 'utf8')
  const losses = (path: string) => data.losses.filter((loss) => loss.path === path).map(({ message }) => message)
  return { person, data, read, losses }
}

/** Renders the first step of an imported prompt. Parts become their text or type. */
async function render(content: string, parameters: Record<string, unknown>, documents: Record<string, string> = {}) {
  const source = { path: 'support/imported', content, documents }
  const rendered = await step(source, { parameters, now: '2026-01-01T00:00:00.000Z' })
  return rendered.added.map(({ role, content }) => ({
    role,
    text: content.map((part) => (typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part))).join(' '),
  }))
}

function inSupport(documents: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(documents).map(([path, text]) => [`support/${path}`, text]))
}

function frontOf(text: string): Record<string, unknown> {
  return parse(text.split('---')[1] ?? '')
}

test('Langfuse: imports the production version with its exact text, settings, tools and schema', async () => {
  const { data, read, losses } = await importFrom('langfuse', fixture('langfuse.json'))
  expect(data.files.map(({ path, action }) => [path, action])).toEqual([
    ['movie-critic', 'written'],
    ['support/chat', 'written'],
    ['tone', 'written'],
  ])
  const critic = await read('movie-critic')
  expect(critic).toMatch(/^---\nmodel: gpt-4o\ntemperature: 0.5\nparameters:\n/)
  expect(frontOf(critic)['parameters']).toEqual({
    criticLevel: { type: 'text' },
    movie: { type: 'text' },
    first_name: { type: 'text' },
  })
  expect(await render(critic, { criticLevel: 'strict', movie: 'Dune', first_name: 'Ana' })).toEqual([
    { role: 'user', text: 'As a strict critic, do you like Dune? Answer with <user> or /* not */ at all \\ Ana.' },
  ])
  expect(losses('movie-critic').sort()).toEqual(
    [
      'The labels staging were dropped',
      'Imported version 1; skipped 2',
      'The setting "supported_languages" is not supported: ["en","fr"]',
      'The tags movies were dropped',
      'The variable "first name" is now named "first_name"',
    ].sort(),
  )
  const chat = await read('support/chat')
  expect(chat).toContain('<prompt path="../tone" />')
  expect(chat).toContain('maxTokens: 200\n')
  const documents = { tone: await read('tone') }
  expect(await render(chat, { company: 'Acme', question: 'Why?', history: [{ a: 1 }] }, documents)).toEqual([
    { role: 'system', text: 'You help Acme. Be kind.' },
    { role: 'user', text: '[{"a":1}]' },
    { role: 'user', text: 'Why?' },
  ])
  expect(parse(chat.split('---')[1] ?? '')).toEqual({
    model: 'gpt-4o-mini',
    maxTokens: 200,
    tools: {
      lookup: {
        description: 'Finds an order',
        parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      },
    },
    schema: { type: 'object', properties: { text: { type: 'string' } } },
    parameters: { company: { type: 'text' }, history: { type: 'array' }, question: { type: 'text' } },
  })
  expect(losses('support/chat')).toEqual([expect.stringContaining('The message placeholder "history"')])
})

test('Langfuse: including prompts use the new names and pass variables at any depth', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  const include = (name: string, pin = '') => `@@@langfusePrompt:name=${name}${pin}@@@`
  const label = ['production']
  const prompts = [
    {
      name: 'Chat',
      prompt: [{ role: 'system', content: `Help {{company}}. ${include('chat', '|label=production')}` }],
    },
    { name: 'chat', prompt: `Be {{mood}}. ${include('team: rules!', '|version=1')}` },
    { name: 'team: rules!', version: 2, prompt: `Never say {{first word}}, {{company}}. ${include('a"b')} \\` },
    { name: 'a"b', prompt: 'Ask {{who}}.' },
    { name: 'lost', prompt: `${include('not here')} ${include('Chat', '|label=old')} <prompt path="0" />` },
  ].map((prompt) => ({ version: 1, labels: label, ...prompt }))
  await writeFile(join(person.folder, 'in.json'), JSON.stringify(prompts))
  const { stdout } = await person.stet(['import', 'langfuse', 'in.json', '--json'])
  const { files, losses }: Imported = JSON.parse(stdout)
  expect(files.map(({ path }) => path)).toEqual(['Chat', 'chat-2', 'team-rules', 'a-b', 'lost'])
  const texts = await Promise.all(
    files.map(async ({ path, file }) => [path, await readFile(join(person.folder, file), 'utf8')] as const),
  )
  const documents = Object.fromEntries(texts)
  expect(documents['Chat']).toContain(
    '<prompt path="chat-2" mood={{ mood }} first_word={{ first_word }} company={{ company }} who={{ who }} />',
  )
  for (const [path, names] of [
    ['Chat', ['company', 'mood', 'first_word', 'who']],
    ['chat-2', ['mood', 'first_word', 'company', 'who']],
    ['team-rules', ['first_word', 'company', 'who']],
    ['a-b', ['who']],
  ] as const) {
    expect(Object.keys(frontOf(documents[path] ?? '')['parameters'] ?? {}), path).toEqual(names)
  }
  const values = { company: 'Acme', mood: 'kind', first_word: 'no', who: 'Ana' }
  const rendered = await render(documents['Chat'] ?? '', values, inSupport(documents))
  expect(rendered).toEqual([{ role: 'system', text: 'Help Acme. Be kind. Never say no, Acme. Ask Ana. \\' }])
  expect(losses.map(({ path, message }) => `${path}: ${message}`)).toEqual([
    'chat-2: The reference to "team: rules!" asks for version 1: version 2 was imported',
    'chat-2: "chat" is now named "chat-2"',
    'team-rules: The variable "first word" is now named "first_word"',
    'team-rules: "team: rules!" is now named "team-rules"',
    'a-b: "a"b" is now named "a-b"',
    'lost: The reference to "Chat" asks for the label old: version 1 was imported',
    expect.stringMatching(/^lost: Does not compile.*'not-here' does not exist/),
  ])
  expect(documents['lost']).toContain('\\<prompt path="0" />')
})

test('the discontinued service: references follow a renamed prompt, and nothing else changes', async () => {
  const shout = '---\nmodel: m\n---\n<prompt path="../Tone"  name={{ x }} /> <prompt  x={{ 1 }} path=\'./tone\' />\n'
  const documents = [
    { path: 'kit/tone', content: 'quiet' },
    { path: 'Tone', content: 'one {{ name }}' },
    { path: 'tone', content: 'two' },
    { path: 'kit/shout', content: shout },
    { path: 'con/a', content: '<prompt path="b" /> <prompt path="/tone" />' },
    { path: 'con/b', content: 'b' },
  ]
  const server = createServer((_request, response) => response.end(JSON.stringify(documents)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const person = new Person(await temporaryFolder(), nowhere)
  const address = `http://127.0.0.1:${port}/api/v3/projects/1`
  const ended = await person.stet(['import', 'latitude', address, '--source-key-stdin', '--json'], 'key')
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const read = (path: string) => readFile(join(person.folder, 'prompts', `${path}.promptl`), 'utf8')
  expect(await read('tone-2')).toBe('two')
  expect(await read('kit/shout')).toBe(shout)
  expect(await read('_con/a')).toBe('<prompt path="b" /> <prompt path="../tone-2" />')
})

test('dotprompt: a partial gets its context, including list items and objects', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  await mkdir(join(person.folder, 'in'))
  const write = (name: string, text: string) => writeFile(join(person.folder, 'in', name), text)
  await write(
    'list.prompt',
    '---\nmodel: m\n---\n{{#each orders}}{{> order}};{{/each}} {{>order best shop="us"}} {{>sign}}',
  )
  await write('_order.prompt', '{{title}} from {{shop}}')
  await write('_sign.prompt', 'Yours, {{name}}')
  const ended = await person.stet(['import', 'dotprompt', 'in', '--json'])
  const { losses }: Imported = JSON.parse(ended.stdout)
  expect(losses.filter(({ message }) => !message.includes('is now named'))).toEqual([])
  const read = (path: string) => readFile(join(person.folder, 'prompts', `${path}.promptl`), 'utf8')
  const list = await read('list')
  expect(frontOf(list)['parameters']).toEqual({
    orders: { type: 'array' },
    best: { type: 'object' },
    name: { type: 'text' },
  })
  const documents = inSupport({ order: await read('order'), sign: await read('sign') })
  const values = {
    orders: [
      { title: 'pen', shop: 'A' },
      { title: 'ink', shop: 'B' },
    ],
    best: { title: 'cap' },
    name: 'Ana',
  }
  const [message] = await render(list, values, documents)
  expect(message?.text.replaceAll(/\s+/g, ' ')).toBe('pen from A; ink from B; cap from us Yours, Ana')
})

test('dotprompt: strings, inverted blocks and outer contexts convert; subexpressions and raw blocks are reported', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  await mkdir(join(person.folder, 'in'))
  const lines = [
    '{{#each shops}}{{#each orders}}{{title}} at {{../name}} for {{../../buyer}}; {{/each}}{{/each}}',
    '{{^closed}}open{{/closed}} {{#ifEquals tone "a }} b"}}yes{{else}}no{{/ifEquals}} {{>sign from="us east"}}',
    'C:\\\\{{buyer}}',
    '{{#if (eq tone "kind")}}kind{{else}}stern{{/if}}',
    '{{{{raw}}}} {{as it is}} {{{{/raw}}}}',
    "{{it's}} {{{buyer}}} {{~buyer~}}",
  ]
  await writeFile(join(person.folder, 'in', 'shop.prompt'), lines.join('\n'))
  await writeFile(join(person.folder, 'in', '_sign.prompt'), 'Yours, {{from}}')
  const ended = await person.stet(['import', 'dotprompt', 'in', '--json'])
  const { losses }: Imported = JSON.parse(ended.stdout)
  const reported = ['{{#if (eq tone "kind")}}', '{{{{raw}}}} {{as it is}} {{{{/raw}}}}', "{{it's}}"]
  expect(losses.map(({ message }) => message)).toEqual(
    reported.map((tag, at) => `Line ${at + 4}: ${tag} is not supported and stays as text: rewrite or remove it`),
  )
  const read = (path: string) => readFile(join(person.folder, 'prompts', `${path}.promptl`), 'utf8')
  const values = { shops: [{ name: 'A', orders: [{ title: 'pen' }] }], buyer: 'Ana', closed: false, tone: 'a }} b' }
  const [message] = await render(await read('shop'), values, inSupport({ sign: await read('sign') }))
  expect(message?.text.split('\n').map((line) => line.trim())).toEqual([
    'pen at A for Ana;',
    'open yes Yours, us east',
    'C:\\Ana',
    '{{#if (eq tone "kind")}}kind{{else}}stern{{/if}}',
    '{{{{raw}}}} {{as it is}} {{{{/raw}}}}',
    "{{it's}} Ana Ana",
  ])
})

test('OpenAI: instructions, input, defaults, tools and format', async () => {
  const { read, losses } = await importFrom('openai', fixture('openai.json'))
  const text = await read('pmpt_123')
  expect(parse(text.split('---')[1] ?? '')).toEqual({
    model: 'gpt-5.1',
    maxTokens: 500,
    reasoningEffort: 'low',
    tools: { refund: { description: 'Pays back', parameters: { type: 'object' } } },
    schema: { type: 'object', properties: { reply: { type: 'string' } }, required: ['reply'] },
    parameters: {
      customer_name: { type: 'text', default: 'Acme' },
      issue: { type: 'text' },
      screenshot: { type: 'text' },
    },
  })
  const rendered = await render(text, { customer_name: 'Acme', issue: 'late', screenshot: 'https://example.com/s.png' })
  expect(rendered).toMatchObject([
    { role: 'system', text: 'You are a support assistant of Acme.' },
    { role: 'user', text: expect.stringMatching(/^Issue: late .*https:\/\/example\.com\/s\.png/) },
  ])
  expect(losses('pmpt_123')).toEqual([
    'The setting "text.verbosity" is not supported: "low"',
    'The setting "reasoning.summary" is not supported: "auto"',
    'The setting "strict" of the tool "refund" is not supported: true',
    'The tool {"type":"web_search"} is not supported',
    'The setting "strict" of the response format is not supported: true',
    'The value of the variable "screenshot" cannot be a default',
  ])
})

test('dotprompt: Picoschema, blocks, loops, roles and partials', async () => {
  const { read, losses } = await importFrom('dotprompt', fixture('dotprompt'))
  const text = await read('greeting')
  expect(parse(text.split('---')[1] ?? '')).toEqual({
    provider: 'google',
    model: 'gemini-1.5-flash',
    temperature: 0.7,
    topK: 20,
    stop: ['STOP'],
    parameters: {
      name: { type: 'text', required: true, default: 'Guest' },
      language: { type: 'text', description: 'the language to answer in' },
      tone: { type: 'text', description: 'how to sound' },
      items: { type: 'array', description: 'what was bought', required: true },
      photo: { type: 'text' },
    },
    schema: {
      type: 'object',
      properties: { greeting: { type: 'string', description: 'the greeting' }, mood: { enum: ['warm', 'cool'] } },
      required: ['greeting', 'mood'],
      additionalProperties: false,
    },
  })
  const values = {
    name: 'Ana',
    items: [{ title: 'pen' }, { title: 'ink', price: 2 }],
    photo: 'https://example.com/p.png',
  }
  const [system, user] = await render(text, values, { 'support/house_rules': await read('house_rules') })
  expect(system?.role).toBe('system')
  expect(system?.text.replaceAll(/\s+/g, ' ')).toBe(
    'You greet people. Stay kind and write {{braces}} as they are. Answer in English.',
  )
  expect(user?.text.replaceAll(/\s+/g, ' ')).toMatch(
    /^I am Ana\. 0: pen free for Ana; ?1: ink for Ana; .*p\.png.*\{\{section "extra"\}\} \{\{shout name\}\}$/,
  )
  const said = losses('greeting').join('\n')
  for (const lost of [
    '"variant"',
    '"version"',
    'timeOfDay',
    'The "enum" of the parameter "tone" is not supported: ["kind","short"]',
    'The "items" of the parameter "items" is not supported: {"type":"object","properties":{"title":',
    '{{history}}',
    '{{section "extra"}}',
    '{{shout name}}',
  ]) {
    expect(said).toContain(lost)
  }
})

test('Humanloop: imports tags, images and tool calls, but no tool results', async () => {
  const { read, losses } = await importFrom('dotprompt', fixture('humanloop'))
  const text = await read('welcome')
  expect(parse(text.split('---')[1] ?? '')).toMatchObject({
    provider: 'openai',
    model: 'gpt-4o',
    temperature: 0.7,
    tools: { get_weather: { description: 'Weather of a place', parameters: { required: ['city'] } } },
  })
  expect(text).not.toContain('maxTokens')
  const rendered = await render(text, { city: 'Paris' })
  expect(rendered.map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
  expect(rendered[0]?.text).toBe('You welcome people to Paris.')
  expect(rendered[1]?.text).toMatch(/^What is this\? .*https:\/\/example\.com\/a\.png/)
  expect(rendered[2]?.text).toContain('"args":{"city":"Paris"}')
  expect(losses('welcome').sort()).toEqual([
    'The setting "strict" of the tool "get_weather" is not supported: true',
    expect.stringContaining('The tool result <tool name="get_weather"'),
  ])
})

test('a folder of the discontinued service: copied byte for byte, and unsupported features are reported', async () => {
  const { data, read, losses } = await importFrom('latitude', fixture('latitude'))
  expect(data.files.map(({ path }) => path)).toEqual(['broken', 'support/reply'])
  const original = fixture('latitude/prompts/support/reply.promptl')
  expect(await read('support/reply')).toBe(await readFile(original, 'utf8'))
  expect(losses('support/reply')).toEqual([expect.stringContaining('"latitude/search" is not part of stet')])
  expect(losses('broken')).toEqual([expect.stringContaining('Does not compile (line 1,')])
})

test('existing files stay unchanged; --strict makes losses a failure; --dry-run writes nothing', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  const source = fixture('latitude')
  const dry = await person.stet(['import', 'latitude', source, '--dry-run'])
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('to write\tprompts/broken.promptl') })
  expect(dry.stderr).toContain('! broken: Does not compile')
  await expect(readFile(join(person.folder, 'prompts/broken.promptl'))).rejects.toThrow()
  await mkdir(join(person.folder, 'prompts'))
  await writeFile(join(person.folder, 'prompts/broken.promptl'), 'mine\n')
  const strict = await person.stet(['import', 'latitude', source, '--strict'])
  expect(strict).toMatchObject({ code: 1, stdout: expect.stringContaining('kept\tprompts/broken.promptl') })
  expect(await readFile(join(person.folder, 'prompts/broken.promptl'), 'utf8')).toBe('mine\n')
  const again = await person.stet(['import', 'latitude', source])
  expect(again.stdout).toContain('unchanged\tprompts/support/reply.promptl')
})

test('hostile and broken exports: the import continues, and each loss names file, position and next step', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  const write = async (name: string, text: string) => {
    await mkdir(join(person.folder, 'in'), { recursive: true })
    await writeFile(join(person.folder, 'in', name), text)
  }
  const importAll = async (kind: string) => {
    const { code, stdout, stderr } = await person.stet(['import', kind, 'in', '--json', '--dir', `out-${kind}`])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { files, losses }: Imported = JSON.parse(stdout)
    const said = losses.map(({ path, source, message }) => `${path}${source ? ` (${source})` : ''}: ${message}`)
    return { paths: files.map(({ path }) => path), said }
  }
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const entries = [
    7,
    null,
    { prompt: 'x' },
    { name: 3, prompt: 'x' },
    { name: 'empty' },
    { name: 'list', prompt: null },
  ]
  const evil = [
    { name: '../../../etc/passwd', prompt: 'a' },
    { name: 'nul', prompt: 'b' },
    { name: '', prompt: 'c' },
    { name: 'roles', prompt: [{ role: 'x"><system>', content: '</user>{{ "a" }}' }] },
  ]
  await write('a.json', JSON.stringify([...entries, ...evil]))
  await write('b.json', '{"name": ')
  await write('c.json', `{"name":"deep","prompt":"fine","config":{"odd":${nested}}}`)
  await write('d.json', JSON.stringify({ name: 'large', prompt: 'x'.repeat(300_000) }))
  const langfuse = await importAll('langfuse')
  expect(langfuse.paths).toEqual(['etc/passwd', '_nul', 'roles', 'large'])
  for (const said of [
    'a.json, entry 1: Skipped: is not an object',
    'a.json, entry 3: Skipped: has no "name": add one to the export',
    'a.json, entry 5: Skipped: "empty" has no text or list of messages in "prompt"',
    'etc/passwd (a.json): "../../../etc/passwd" is now named "etc/passwd"',
    'b.json: Skipped: not JSON: ',
    'c.json: Skipped: nested too deeply',
    'large (d.json): Does not compile (line 1, column 1): The prompt is larger than 256 KB',
  ]) {
    expect(langfuse.said).toContainEqual(expect.stringContaining(said))
  }
  // A role never becomes markup.
  const roles = await readFile(join(person.folder, 'out-langfuse', 'roles.promptl'), 'utf8')
  expect(roles).not.toContain('<system>')

  const openai = await importAll('openai')
  expect(openai.said).toContainEqual(expect.stringContaining('a.json, entry 5: Skipped: "empty" has no text in'))

  await write('bad.prompt', '---\nmodel: x\nconfig: [1\n---\nHi\n')
  await write('open.prompt', '---\nmodel: x\n---\nOne\n{{#if a}}two {{shout b}}\n')
  await write(
    'jinja.prompt',
    '---\nmodel: x\nendpoint: chat\ntemplate_language: jinja\n---\n<user>\n{% if x %}Hi{% endif %}\n</user>\n',
  )
  await write('helper.agent', '---\nmodel: x\n---\n')
  const dotprompt = await importAll('dotprompt')
  expect(dotprompt.paths).toEqual(['jinja', 'open'])
  for (const said of [
    'bad.prompt: Skipped: front matter, line 3: ',
    'open (open.prompt): Line 5: {{shout b}} is not supported and stays as text: rewrite or remove it',
    'open (open.prompt): Does not compile (line 10, column 1): Block was left open',
    "jinja (jinja.prompt): Line 7: {% if x %} is jinja syntax: rewrite it in stet's",
    'helper.agent: Skipped: Humanloop agents are not supported: turn the text into a prompt',
  ]) {
    expect(dotprompt.said).toContainEqual(expect.stringContaining(said))
  }
})

test('JSON entries are named with their first line, and broken JSON with the line of the error', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  const write = (name: string, text: string | Uint8Array) => writeFile(join(person.folder, name), text)
  const text =
    '{"meta": [{"data": [1]}],\n "data": [\n  {"name": "a\\n]\\"", "prompt": "x [,\\n"},\n\n  {"name": "b",\n   "prompt": [[]]}, 7\n]}'
  await write('lines.json', text)
  const { stdout, stderr } = await person.stet(['import', 'langfuse', 'lines.json', '--dir', 'out', '--dry-run'])
  expect(stdout).toBe('to write\tout/a.promptl\nto write\tout/b.promptl\n')
  expect(stderr).toContain('! a (lines.json:3): "a ]"" is now named "a"')
  expect(stderr).toContain('! b (lines.json:5): A message is not supported: []')
  expect(stderr).toContain('! lines.json, entry 3 (line 6): Skipped: is not an object')
  for (const [broken, place] of [
    ['{\n"a": 1,\n]', '(line 3'],
    ['[\n{"a":\n', '(line 2)'],
    ['[\n1,\n  nope,\n{}]\n', '(line 3)'],
  ] as const) {
    await write('broken.json', broken)
    const failed = await person.stet(['import', 'openai', 'broken.json'])
    expect(failed).toMatchObject({ code: 7, stderr: expect.stringContaining(place) })
  }
  await write('latin.json', Uint8Array.of(0x22, 0xe4, 0x22))
  expect(await person.stet(['import', 'openai', 'latin.json'])).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('latin.json: not UTF-8'),
  })
})

test('names that file systems refuse are changed and reported, and an invalid source is an error', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  const long = 'ä'.repeat(300)
  const odd = ['../up', 'a:b', 'CON', 'x', 'X', 'my prompt!', '😀', long, `${long}/`.repeat(9)].map((name) => ({
    name,
    prompt: 'text',
    version: 1,
  }))
  await writeFile(join(person.folder, 'odd.json'), JSON.stringify({ data: odd }))
  const { code, stdout } = await person.stet(['import', 'langfuse', 'odd.json', '--json'])
  const { files, losses }: Imported = JSON.parse(stdout)
  expect(code).toBe(0)
  const cut = 'ä'.repeat(100)
  const paths = ['up', 'a-b', '_CON', 'x', 'X-2', 'my-prompt', 'prompt', cut, `${cut}/${cut}`]
  expect(files.map(({ path }) => path)).toEqual(paths)
  for (const path of paths) expect(problemOfPath(path)).toBeUndefined()
  expect(losses).toHaveLength(8)
  await writeFile(join(person.folder, 'none.json'), '{}')
  expect((await person.stet(['import', 'langfuse', 'none.json'])).code).toBe(5)
  expect((await person.stet(['import', 'openai', 'missing.json'])).code).toBe(5)
  await writeFile(join(person.folder, 'bad.json'), '{')
  expect((await person.stet(['import', 'openai', 'bad.json'])).code).toBe(7)
  expect((await person.stet(['import', 'notion', 'bad.json'])).code).toBe(2)
  expect((await person.stet(['import', 'latitude', 'https://example.com/api/v3/projects/1'])).code).toBe(2)
})
