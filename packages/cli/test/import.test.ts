import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { step } from '@stet/template'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
const nowhere = { address: 'http://127.0.0.1:1' }

interface Imported {
  files: { path: string; file: string; action: string }[]
  losses: { path: string; message: string }[]
}

/** What an import wrote and said, without any server. */
async function importFrom(...args: string[]) {
  const person = new Person(await temporaryFolder(), nowhere)
  const ended = await person.stet(['import', ...args, '--json'])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const data: Imported = JSON.parse(ended.stdout)
  const read = (path: string) => readFile(join(person.folder, 'prompts', `${path}.promptl`), 'utf8')
  const losses = (path: string) => data.losses.filter((loss) => loss.path === path).map(({ message }) => message)
  return { person, data, read, losses }
}

/** The messages that a run of an imported prompt begins with; parts as text, or as their type. */
async function render(content: string, parameters: Record<string, unknown>, documents: Record<string, string> = {}) {
  const source = { path: 'support/imported', content, documents }
  const rendered = await step(source, { parameters, now: '2026-01-01T00:00:00.000Z' })
  return rendered.added.map(({ role, content }) => ({
    role,
    text: content.map((part) => (typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part))).join(' '),
  }))
}

test('Langfuse: the version in production, its text word for word, settings, tools and schema', async () => {
  const { data, read, losses } = await importFrom('langfuse', fixture('langfuse.json'))
  expect(data.files.map(({ path, action }) => [path, action])).toEqual([
    ['movie-critic', 'written'],
    ['support/chat', 'written'],
    ['tone', 'written'],
  ])
  const critic = await read('movie-critic')
  expect(critic).toMatch(/^---\nmodel: gpt-4o\ntemperature: 0.5\n---\n\n<user>\n/)
  expect(await render(critic, { criticLevel: 'strict', movie: 'Dune', first_name: 'Ana' })).toEqual([
    { role: 'user', text: 'As a strict critic, do you like Dune? Answer with <user> or /* not */ at all \\ Ana.' },
  ])
  expect(losses('movie-critic').sort()).toEqual(
    [
      'The labels staging have no counterpart',
      'Version 1 was taken; not the versions 2',
      'The setting "supported_languages" has no counterpart: ["en","fr"]',
      'The tags movies have no counterpart',
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
  })
  expect(losses('support/chat').join()).toContain('"history" for messages')
  expect(losses('support/chat').join()).toContain('refers to "tone" (production)')
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
    parameters: { customer_name: { type: 'text', default: 'Acme' }, issue: { type: 'text' } },
  })
  const rendered = await render(text, { customer_name: 'Acme', issue: 'late', screenshot: 'https://example.com/s.png' })
  expect(rendered).toMatchObject([
    { role: 'system', text: 'You are a support assistant of Acme.' },
    { role: 'user', text: expect.stringMatching(/^Issue: late .*https:\/\/example\.com\/s\.png/) },
  ])
  expect(losses('pmpt_123')).toEqual([
    'The tool {"type":"web_search"} has no counterpart',
    'The value of the variable "screenshot" has no counterpart as a default',
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
      items: { type: 'array', description: 'what was bought', required: true },
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
    '{{history}}',
    '{{section "extra"}}',
    '{{shout name}}',
    'partial',
  ]) {
    expect(said).toContain(lost)
  }
})

test('Humanloop: tags, images and tool calls; answers of tools stay behind', async () => {
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
  expect(losses('welcome')).toEqual([expect.stringContaining('The tool answer <tool name="get_weather"')])
})

test('a folder of the discontinued service: byte for byte, and what a run would refuse is said', async () => {
  const { data, read, losses } = await importFrom('latitude', fixture('latitude'))
  expect(data.files.map(({ path }) => path)).toEqual(['broken', 'support/reply'])
  const original = fixture('latitude/prompts/support/reply.promptl')
  expect(await read('support/reply')).toBe(await readFile(original, 'utf8'))
  expect(losses('support/reply')).toEqual([expect.stringContaining('"latitude/search" is not part of stet')])
  expect(losses('broken')).toEqual([expect.stringContaining('Does not compile, line 1')])
})

test('files that exist stay as they are; --strict makes losses a failure; --dry-run writes nothing', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  const source = fixture('latitude')
  const dry = await person.stet(['import', 'latitude', source, '--dry-run'])
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('written\tprompts/broken.promptl') })
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

test('names that no file system takes are changed and said; what is no source is refused', async () => {
  const person = new Person(await temporaryFolder(), nowhere)
  const odd = ['../up', 'a:b', 'CON', 'x', 'X'].map((name) => ({ name, prompt: 'text', version: 1 }))
  await writeFile(join(person.folder, 'odd.json'), JSON.stringify({ data: odd }))
  const { code, stdout } = await person.stet(['import', 'langfuse', 'odd.json', '--json'])
  const { files, losses }: Imported = JSON.parse(stdout)
  expect(code).toBe(0)
  expect(files.map(({ path }) => path)).toEqual(['up', 'a-b', '_CON', 'x', 'X-2'])
  expect(losses).toHaveLength(4)
  await writeFile(join(person.folder, 'none.json'), '{}')
  expect((await person.stet(['import', 'langfuse', 'none.json'])).code).toBe(5)
  expect((await person.stet(['import', 'openai', 'missing.json'])).code).toBe(5)
  await writeFile(join(person.folder, 'bad.json'), '{')
  expect((await person.stet(['import', 'openai', 'bad.json'])).code).toBe(7)
  expect((await person.stet(['import', 'notion', 'bad.json'])).code).toBe(2)
  expect((await person.stet(['import', 'latitude', 'https://example.com/api/v3/projects/1'])).code).toBe(2)
})
