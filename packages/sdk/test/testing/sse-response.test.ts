import { expect, it } from 'vitest'
import { RunError, RunStream, type StreamEvent, StreamInterruptedError } from '../../src/index.ts'
import { events, sseResponse } from '../../src/testing/index.ts'

async function read(response: Response): Promise<StreamEvent[]> {
  const all: StreamEvent[] = []
  for await (const event of RunStream.fromResponse(response)) all.push(event)
  return all
}

it('streams the given events to the client', async () => {
  const run = events('Grüße 👋', { uuid: 'u-1' })
  expect(await read(sseResponse(run))).toEqual(run)
  expect(sseResponse(run).headers.get('x-conversation-uuid')).toBe('u-1')
})

it.each([1, 7, 4096])('sends chunks of %i bytes', async (chunkBytes) => {
  const run = events(['Grüße', ' 👋'])
  expect(await read(sseResponse(run, { chunkBytes }))).toEqual(run)
})

it('sends no ids', async () => {
  const read1 = await read(sseResponse(events('a'), { ids: false }))
  expect(read1.map(({ id }) => id).join('')).toBe('')
})

it.each([0, 3, 8])('breaks after %i events', async (dropAfter) => {
  const run = events('abc')
  const stream = RunStream.fromResponse(sseResponse(run, { dropAfter }))
  await expect(stream.finalResult()).rejects.toBeInstanceOf(StreamInterruptedError)
  expect(stream.lastEventId).toBe(dropAfter === 0 ? undefined : String(dropAfter))
})

it('streams a structured response', async () => {
  const result = await RunStream.fromResponse<{ n: number }>(
    sseResponse(events('', { object: { n: 1 } })),
  ).finalResult()
  expect(result.response).toMatchObject({ streamType: 'object', object: { n: 1 }, text: '{"n":1}' })
})

it('streams a failed run', async () => {
  const error = { code: 'rate_limit_error', message: 'Too fast' }
  const stream = RunStream.fromResponse(sseResponse(events('Half', { error })))
  const reason: unknown = await stream.finalResult().catch((failure: unknown) => failure)
  expect(reason).toBeInstanceOf(RunError)
  expect(reason).toMatchObject({ errorCode: 'rate_limit_error', partial: { text: 'Half' } })
})
