/** Reads and writes of prompts, which work the same in all published TypeScript clients. */
import { expect, test } from 'vitest'
import { failureOf, prompts, sentDuring } from '../matrix/client-bench.ts'
import type { Matrix } from '../matrix/client-matrix.ts'
import { ErrorBody, Prompt } from '../matrix/wire.ts'
import type { Ready } from './ready.ts'

const documents = (version: string) => `/api/v3/projects/1/versions/${version}/documents`

export function promptTests(matrix: Matrix, ready: Ready): void {
  matrix.method('prompts.get', () => getTests(ready))
  matrix.method('prompts.getAll', () => getAllTests(ready))
  matrix.method('prompts.getOrCreate', () => getOrCreateTests(ready))
  matrix.method(
    'prompts.create',
    () => createTests(ready),
    'The client returns an error as the result, because it ignores the status.',
  )
}

function getTests(ready: Ready): void {
  test('a prompt of the live version, by a path with a folder', async () => {
    const { client, bench } = ready()
    const { answer, lines } = await sentDuring(bench, () => client.prompts.get('folder/triage'))
    expect(lines).toEqual([`GET ${documents('live')}/folder/triage`])
    expect(Prompt.parse(answer)).toMatchObject({
      path: 'folder/triage',
      content: prompts['folder/triage'],
      versionUuid: bench.liveUuid,
      config: { provider: 'OpenAI', model: 'gpt-4o' },
      provider: 'openai',
    })
  })

  test('its parameters', async () => {
    const { parameters } = Prompt.parse(await ready().client.prompts.get('greet'))
    expect(parameters).toEqual({ name: { type: 'text' } })
  })

  test('a leading slash, which is sent twice, names the same prompt', async () => {
    const { client, bench } = ready()
    const { answer, lines } = await sentDuring(bench, () => client.prompts.get('/greet'))
    expect(lines).toEqual([`GET ${documents('live')}//greet`])
    expect(answer['path']).toBe('greet')
  })

  test('a space in a path, sent as %20, is understood', async () => {
    const { client, bench } = ready()
    const { answer, lines } = await sentDuring(bench, () => failureOf(client.prompts.get('no such')))
    expect(lines).toEqual([`GET ${documents('live')}/no%20such`])
    expect(answer).toMatchObject({ status: 404, message: expect.stringContaining('no such') })
  })

  test('a prompt of a draft', async () => {
    const { client, bench } = ready()
    const versionUuid = await bench.newDraft()
    const prompt = Prompt.parse(await client.prompts.get('greet', { projectId: 1, versionUuid }))
    expect(prompt.versionUuid).toBe(versionUuid)
  })

  test('an unknown prompt rejects with the reason', async () => {
    const failure = await failureOf(ready().client.prompts.get('nowhere'))
    expect(failure).toMatchObject({
      status: 404,
      errorCode: 'NotFoundError',
      message: 'Document not found at path: nowhere',
    })
    ErrorBody.parse(JSON.parse(String(failure['serverResponse'])))
  })
}

function getAllTests(ready: Ready): void {
  test('every prompt of the live version', async () => {
    const { client, bench } = ready()
    const { answer, lines } = await sentDuring(bench, () => client.prompts.getAll())
    expect(lines).toEqual([`GET ${documents('live')}`])
    expect(
      Prompt.array()
        .parse(answer)
        .map(({ path }) => path),
    ).toEqual(Object.keys(prompts).sort())
  })

  test('an unknown version rejects with the reason', async () => {
    const call = ready().client.prompts.getAll({ versionUuid: '00000000-0000-4000-8000-000000000000' })
    expect(await failureOf(call)).toMatchObject({
      status: 404,
      errorCode: 'NotFoundError',
      message: 'Version not found',
    })
  })
}

function getOrCreateTests(ready: Ready): void {
  test('creates what is missing, and answers what is there unchanged', async () => {
    const { client, bench } = ready()
    const options = { projectId: 1, versionUuid: await bench.newDraft() }
    const created = Prompt.parse(await client.prompts.getOrCreate('made/here', { ...options, prompt: 'Hello.' }))
    expect(created).toMatchObject({ path: 'made/here', content: 'Hello.', versionUuid: options.versionUuid })
    const again = Prompt.parse(await client.prompts.getOrCreate('made/here', { ...options, prompt: 'Other.' }))
    expect(again).toEqual(created)
  })

  test('without a text the prompt is empty: nothing is added to it', async () => {
    const { client, bench } = ready()
    const versionUuid = await bench.newDraft()
    const { answer, sent } = await sentDuring(bench, () => client.prompts.getOrCreate('empty', { versionUuid }))
    expect(sent[0]?.body).toEqual({ path: 'empty', __internal: { source: 'api' } })
    expect(Prompt.parse(answer).content).toBe('')
  })

  test('on the live version it only reads', async () => {
    const { client } = ready()
    expect((await client.prompts.getOrCreate('greet'))['content']).toBe(prompts.greet)
    expect(await failureOf(client.prompts.getOrCreate('made/live'))).toMatchObject({
      status: 400,
      errorCode: 'BadRequestError',
    })
  })
}

function createTests(ready: Ready): void {
  test('a new prompt in a draft, stored as it was sent', async () => {
    const { client, bench } = ready()
    const versionUuid = await bench.newDraft()
    const prompt = '\r\n  Hello.\t\n'
    const created = Prompt.parse(await client.prompts.create('new/one', { projectId: 1, versionUuid, prompt }))
    expect(created).toMatchObject({ path: 'new/one', content: prompt })
    expect((await client.prompts.get('new/one', { versionUuid }))['content']).toBe(prompt)
  })

  test('a taken path and a published version: the error body is the result', async () => {
    const { client, bench } = ready()
    const versionUuid = await bench.newDraft()
    const taken = await client.prompts.create('greet', { projectId: 1, versionUuid, prompt: 'x' })
    expect(ErrorBody.parse(taken)).toMatchObject({ errorCode: 'ConflictError' })
    const merged = await client.prompts.create('other', { projectId: 1, prompt: 'x' })
    expect(ErrorBody.parse(merged)).toMatchObject({ errorCode: 'BadRequestError' })
  })
}
