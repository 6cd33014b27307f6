import { createHash } from 'node:crypto'
import { DocumentCheck } from '@stet/contract'
import type * as wire from '@stet/contract/vocabulary'
import { expect, it } from 'vitest'
import { endless } from '../templates/support/engine.ts'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, createTestProject, issueKey } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const send = (version: string, body: Record<string, unknown>, caller: Api = api) =>
  caller('POST', `${version}/documents/check`, { body })

async function check(version: string, body: Record<string, unknown>): Promise<wire.DocumentCheck> {
  const answer = await send(version, body)
  expect(answer.status, answer.text).toBe(200)
  return DocumentCheck.parse(answer.body)
}

const text =
  '---\nprovider: demo\nmodel: demo\nparameters:\n  count: { type: number }\n---\n<user>{{ count }} {{ name }}</user>'

it('checks a text without storing it', async () => {
  const { draft } = await createTestProject(api)
  const checked = await check(draft, { path: '/new/', prompt: text })
  expect(checked).toEqual({
    contentHash: hash(text),
    errors: [],
    issues: [],
    config: { provider: 'demo', model: 'demo', parameters: { count: { type: 'number' } } },
    parameters: { count: { type: 'text' }, name: { type: 'text' } },
    provider: 'custom',
    references: [],
    referencedBy: [],
    messages: null,
  })
  expect((await api('GET', `${draft}/documents`)).body).toEqual([])
  const { body } = await api('POST', `${draft}/documents`, { body: { path: 'new', prompt: text } })
  expect(await check(draft, { path: 'new' })).toEqual(checked)
  const { config, parameters, provider, errors, contentHash } = checked
  expect(body).toMatchObject({ config, parameters, provider, errors, contentHash })
})

it('lists what a run would refuse, with its place', async () => {
  const { draft } = await createTestProject(api)
  const { errors, issues } = await check(draft, { path: 'a', prompt: '---\nmaxSteps: 151\n---\nHi' })
  const issue = {
    severity: 'error',
    code: 'invalid-setting',
    message: '`maxSteps` must be a whole number from 1 to 150',
    line: 2,
    column: 1,
    endLine: 2,
    endColumn: 9,
    frame: '  1 | ---\n  2 | maxSteps: 151\n    | ^',
  }
  expect({ errors, issues }).toEqual({ errors: [], issues: [issue] })
  const { body } = await api('POST', `${draft}/documents`, {
    body: { path: 'a', prompt: '---\nmaxSteps: 151\n---\nHi' },
  })
  expect(body['issues']).toEqual([issue])
})

it('renders the first step with converted parameters, with the messages of a run', async () => {
  const { live } = await createTestProject(api, { a: text })
  const parameters = { count: '2', name: 'Ada' }
  const { messages } = await check(live, { path: 'a', parameters })
  expect(messages).toEqual([{ role: 'user', content: [{ type: 'text', text: '2 Ada' }] }])
  const run = await api('POST', `${live}/documents/run`, { body: { path: 'a', parameters } })
  expect(run.body['response']).toMatchObject({ input: messages })
  const steps = '<step><user>one {{ name }}</user></step><step><user>two</user></step>'
  const stepped = await check(live, { path: 'a', prompt: steps, parameters: { name: 'Ada' } })
  expect(stepped.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'one Ada' }] }])
  expect(refusalOf(await send(live, { path: 'a', parameters: { count: 'many' } }))).toEqual({
    status: 422,
    reason: 'invalid-parameters',
  })
})

it('locates errors of compilation and of the first step, and then has no messages', async () => {
  const { draft } = await createTestProject(api)
  const compiled = await check(draft, { path: 'a', prompt: 'ok\n{{ if }}', parameters: {} })
  expect(compiled.messages).toBeNull()
  expect(compiled.errors[0]).toMatchObject({ path: 'a', line: 2 })
  await api('POST', `${draft}/documents`, { body: { path: 'leaf', prompt: 'fine\n{{ if }}' } })
  const inLeaf = await check(draft, { path: 'a', prompt: '<prompt path="leaf" />' })
  expect(inLeaf.errors[0]).toMatchObject({ path: 'leaf', line: 2 })
  const rendered = await check(draft, { path: 'a', prompt: 'ok\n{{ name.first.second }}', parameters: {} })
  expect(rendered.messages).toBeNull()
  expect(rendered.errors).toHaveLength(1)
  expect(rendered.errors[0]).toMatchObject({ path: 'a', line: 2 })
  expect(rendered.errors[0]?.message).not.toMatch(/^a:2/)
})

it('names the prompt of an error that is in a referenced one, also in the stored prompt', async () => {
  const { newDraft } = await createTestProject(api, { leaf: 'fine', root: '<prompt path="leaf" />' })
  const draft = await newDraft()
  const errorsOf = async (path: string) =>
    (await api('GET', `${draft}/documents/${path}`)).body['errors'] as { path?: string; line: number }[]
  await api('POST', `${draft}/documents/create-or-update`, { body: { path: 'leaf', prompt: 'fine\n{{ endif }}' } })
  await api('POST', `${draft}/documents/create-or-update`, { body: { path: 'root', prompt: '<prompt path="leaf" />' } })
  expect((await errorsOf('root'))[0]).toMatchObject({ path: 'leaf', line: 2 })
  const [own] = await errorsOf('leaf')
  expect(own).toMatchObject({ line: 2 })
  expect(own).not.toHaveProperty('path')
})

it('lists references in both directions, missing ones included', async () => {
  const { live, newDraft } = await createTestProject(api, {
    'folder/leaf': 'x',
    'folder/near': '<prompt path="leaf" />',
    far: '<prompt path="/folder/leaf.promptl" />',
    mentions: 'leaf <prompt path="other" />',
    other: 'leaf',
  })
  const uuidOf = async (path: string) => (await api('GET', `${live}/documents/${path}`)).body['documentUuid']
  const leaf = await check(live, { path: 'folder/leaf' })
  expect(leaf.referencedBy).toEqual([
    { path: 'far', documentUuid: await uuidOf('far') },
    { path: 'folder/near', documentUuid: await uuidOf('folder/near') },
  ])
  const draft = await newDraft()
  const prompt = '<prompt path="leaf" /><prompt path="gone" />'
  const { references, errors } = await check(draft, { path: 'folder/new', prompt })
  expect(references).toEqual([
    { path: 'folder/leaf', documentUuid: await uuidOf('folder/leaf') },
    { path: 'folder/gone', documentUuid: null },
  ])
  expect(errors).not.toEqual([])
  await api('DELETE', `${draft}/documents/far`)
  expect((await check(draft, { path: 'folder/leaf' })).referencedBy.map(({ path }) => path)).toEqual(['folder/near'])
})

it('sends no statement for a referring prompt', async () => {
  const referring = Array.from({ length: 10 }, (_, at) => [
    `r${at}`,
    `<prompt path="leaf" /><prompt path="own${at}" />`,
  ])
  const own = Array.from({ length: 10 }, (_, at) => [`own${at}`, 'x'])
  const [few, many] = [
    await createTestProject(api, { leaf: 'x', r0: '<prompt path="leaf" />' }),
    await createTestProject(api, { leaf: 'x', ...Object.fromEntries([...referring, ...own]) }),
  ]
  const caller = apiCaller(server.url, await issueKey(api, {}))
  const statements = async (version: string, count: number) => {
    // The first request caches the version and the text, but no referring text.
    await caller('GET', `${version}/documents/leaf`)
    const before = server.database.statementCount()
    const { body } = await send(version, { path: 'leaf' }, caller)
    expect(DocumentCheck.parse(body).referencedBy).toHaveLength(count)
    return server.database.statementCount() - before
  }
  await statements(few.live, 1)
  // Another statement may record the use of a key.
  await expect.poll(() => statements(few.live, 1)).toBe(1)
  expect(await statements(many.live, 10)).toBe(1)
})

it('needs `write` for a text, and only `read` for a stored prompt', async () => {
  const { live } = await createTestProject(api, { a: 'x' })
  const reader = apiCaller(server.url, await issueKey(api, { scopes: ['read'] }))
  expect((await send(live, { path: 'a' }, reader)).status).toBe(200)
  const refused = await send(live, { path: 'a', prompt: 'x' }, reader)
  expect(refused.status).toBe(403)
  expect(refused.body).toMatchObject({ reason: 'missing-scope', details: { required: 'write' } })
  const editor = apiCaller(server.url, await issueKey(api, { scopes: ['read', 'write'] }))
  expect((await send(live, { path: 'a', prompt: 'x' }, editor)).status).toBe(200)
  expect(refusalOf(await send(live, { path: 'b' }))).toEqual({ status: 404, reason: 'unknown-document' })
})

it('ends an endless template at the limit of work', async () => {
  const { draft } = await createTestProject(api)
  expect((await check(draft, { path: 'a', prompt: endless })).errors).toEqual([])
  const { errors, messages } = await check(draft, { path: 'a', prompt: endless, parameters: {} })
  expect(messages).toBeNull()
  expect(errors).toMatchObject([{ code: 'limit-exceeded', path: 'a' }])
  expect((await check(draft, { path: 'a', prompt: 'x', parameters: {} })).messages).toHaveLength(1)
})

it('refuses references whose texts are together much larger than a resolved text may be', async () => {
  // Comments are not part of the resolved text, so its own limit does not apply.
  const parts = Object.fromEntries(
    Array.from({ length: 11 }, (_, index) => [`part${index}`, `/* ${'x'.repeat(200_000)} */ ${index}`]),
  )
  const { live } = await createTestProject(api, parts)
  const referring = (names: readonly string[]) => names.map((name) => `<prompt path="${name}" />`).join('')
  const names = Object.keys(parts)
  expect((await check(live, { path: 'few', prompt: referring(names.slice(0, 10)) })).errors).toEqual([])
  const { errors } = await check(live, { path: 'many', prompt: `First\n${referring(names)}` })
  expect(errors).toMatchObject([
    { code: 'limit-exceeded', message: 'The referenced prompts are larger than 2 MB', path: 'many', line: 2 },
  ])
})
