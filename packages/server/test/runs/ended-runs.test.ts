/** Ended runs that were evicted from memory return the same result from their rows. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt, type RunBench, runBench, textOf } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  // With room for one large answer, the others wait for the end of its run.
  const environment = { STET_ENDED_RUN_BYTES: '120000', STET_UNREAD_BYTES: '2097152' }
  bench = await runBench({ plain: prompt('<user>Say it</user>') }, environment)
})
afterAll(() => bench.close())

const statementsOf = async <T>(work: () => Promise<T>) => {
  const before = bench.server.database.statementCount()
  const result = await work()
  return { result, statements: bench.server.database.statementCount() - before }
}

it('returns an evicted run unchanged from its row', async () => {
  const text = 'Größe '.repeat(1_000)
  bench.fake.enqueue({ text })
  const live = await bench.stream('plain')
  expect(textOf(live)).toBe(text)
  const uuid = String(live.last['uuid'])
  const remembered = await statementsOf(() => bench.conversation(uuid))
  expect(remembered.statements).toBe(0)
  const early = await bench.streamAttach(uuid)
  expect(early.text).toBe(live.text)

  for (let other = 0; other < 8; other += 1) {
    bench.fake.enqueue({ text })
    expect(await bench.run('plain')).toMatchObject({ status: 200 })
  }
  const read = await statementsOf(() => bench.conversation(uuid))
  expect(read.statements).toBeGreaterThan(0)
  expect(read.result).toEqual(remembered.result)
  const late = await statementsOf(() => bench.streamAttach(uuid))
  expect(late.statements).toBeGreaterThan(0)
  expect(late.result.text).toBe(live.text)
})

/** Returns whether a large answer would be taken without a wait. */
async function isRoomFree(): Promise<boolean> {
  const { largeAnswers } = bench.server.deps.runs
  const answer = { conversationUuid: 'next', workspaceId: 0, bytes: 2_000_000 }
  const held = largeAnswers.hold(answer, new AbortController().signal).then(() => true)
  const isFree = await Promise.race([held, new Promise<boolean>((resolve) => setImmediate(resolve, false))])
  largeAnswers.release('next')
  return isFree
}

it('stores large responses that end at the same time unchanged, and their conversations can continue', async () => {
  // Texts above one megabyte are stored differently. PostgreSQL cannot store NUL, so it is replaced.
  const text = `${'"Größe"\n'.repeat(150_000)}\u0000`
  const stored = text.replace('\u0000', '\uFFFD')
  const answers = await Promise.all(
    [0, 1, 2].map(() => {
      bench.fake.enqueue({ text })
      return bench.run('plain')
    }),
  )
  expect(await isRoomFree()).toBe(true)
  for (const { status, body } of answers) {
    expect(status).toBe(200)
    const { conversation } = await bench.conversation(body['uuid'])
    expect((conversation as unknown[]).at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: stored }] })
    bench.fake.enqueue({ text: 'More' })
    expect((await bench.chat(body['uuid'], { messages: [{ role: 'user', content: 'And?' }] })).status).toBe(200)
    const after = (await bench.conversation(body['uuid']))['conversation'] as unknown[]
    expect(after.slice(0, -2)).toEqual(conversation)
  }
})
