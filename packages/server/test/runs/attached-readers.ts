/** Readers of one run that attach at any point, in any state, over connections that break, for property tests. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { MessageForm } from '../../src/features/runs/ports.ts'
import { withoutPings } from '../http/api-call.ts'
import type { RunCalls } from './run-calls.ts'

const states = ['queued', 'running', 'ended'] as const

export interface Reader {
  state: (typeof states)[number]
  /** The last event id that the reader sends. 0 sends none. */
  after: number
  /** The number of characters after which each connection breaks, in order. The last connection stays open. */
  cuts: number[]
  form: MessageForm
}

const reader: fc.Arbitrary<Reader> = fc.record({
  state: fc.constantFrom(...states),
  after: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(30) }),
  cuts: fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 4 }),
  form: fc.constantFrom('whole' as const, 'declared' as const),
})

export interface Plan {
  path: string
  /** The client that starts the run. Its connection may also break. Undefined for a background run. */
  caller: Pick<Reader, 'cuts' | 'form'> | undefined
  words: number
  gateAfter: number
  readers: Reader[]
}

export const plan: fc.Arbitrary<Plan> = fc.record({
  path: fc.constantFrom('hello', 'two'),
  caller: fc.option(reader, { nil: undefined }),
  words: fc.integer({ min: 1, max: 30 }),
  gateAfter: fc.integer({ min: 1, max: 10 }),
  readers: fc.oneof(
    { weight: 24, arbitrary: fc.array(reader, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(reader, { minLength: 100, maxLength: 100 }) },
  ),
})

const frameEnd = '\n\n'
export const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))

/** Resolves when attached, before the stream is read. */
export async function attach(
  post: RunCalls['post'],
  uuid: string,
  { after, form }: Pick<Reader, 'after' | 'form'>,
): Promise<Response> {
  const headers: Record<string, string> = {
    ...(after > 0 && { 'last-event-id': String(after) }),
    ...(form === 'declared' && { 'x-latitude-sdk-version': '5.2.0' }),
  }
  const response = await post(`/conversations/${uuid}/attach`, { stream: true }, headers)
  expect(response.status).toBe(200)
  return response
}

/** Reads to the end or to the cut, and drops an incomplete last frame like any client. */
async function readUntil(response: Response, cut: number | undefined): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    // Leaving the loop closes the connection.
    if (cut !== undefined && text.length > cut) break
  }
  const end = text.lastIndexOf(frameEnd)
  return end < 0 ? '' : withoutPings(text.slice(0, end + frameEnd.length))
}

/**
 * Collects everything that one reader gets over all its connections. Each continues from the last seen id, on the server
 * that `nextServer` returns.
 */
export async function readAll(
  nextServer: () => RunCalls['post'],
  uuid: string,
  first: Response,
  { after, cuts, form }: Reader,
): Promise<string> {
  let text = ''
  let response = first
  for (const cut of [...cuts, undefined]) {
    text += await readUntil(response, cut)
    if (cut !== undefined) response = await attach(nextServer(), uuid, { after: idsIn(text).at(-1) ?? after, form })
  }
  return text
}

/** Returns the part of the whole event log that a reader must get. */
export function framesAfter(whole: string, after: number): string {
  const frames = whole.split(/(?<=\n\n)/)
  return frames.filter((frame) => (idsIn(frame)[0] ?? 0) > after).join('')
}

export function gate(): { opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
