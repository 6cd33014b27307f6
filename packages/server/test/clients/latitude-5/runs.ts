/** Run features that only 5.1.0 has. */
import { expect, test } from 'vitest'
import { failureOf, sentDuring, userMessage } from '../matrix/client-bench.ts'
import { BackgroundResult } from '../matrix/wire.ts'
import type { Ready } from '../typescript/ready.ts'
import { listener } from '../typescript/runs.ts'

export function runTestsOf5(ready: Ready): void {
  test('in the background: the uuid at once, the result later', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ text: 'Later.' })
    const { answer, sent } = await sentDuring(bench, () =>
      client.prompts.run('greet', { background: true, stream: false }),
    )
    expect(sent[0]?.body).toMatchObject({ background: true, stream: false, tools: [] })
    const { uuid } = BackgroundResult.parse(answer)
    expect((await bench.server.client.runs.attach(uuid)).response.text).toBe('Later.')
  })

  test('in the background as a stream: every event, and the run is a background run', async () => {
    const { client, bench, declares } = ready()
    bench.provider.enqueue({ text: 'Later.' })
    const { seen, callbacks } = listener(declares)
    const result = await client.prompts.run('greet', { background: true, stream: true, ...callbacks })
    expect(result?.response.text).toBe('Later.')
    expect(seen.types.at(-1)).toBe('chain-completed')
    expect(await bench.server.client.conversations.get(result?.uuid ?? '')).toMatchObject({ origin: 'background' })
  })

  test('a background run of an unknown prompt rejects', async () => {
    const call = ready().client.prompts.run('nowhere', { background: true, stream: false })
    expect(await failureOf(call)).toMatchObject({ status: 404, errorCode: 'NotFoundError' })
  })

  test('a message of the user is appended', async () => {
    const { client } = ready()
    for (const stream of [true, false]) {
      const result = await client.prompts.run('greet', { stream, userMessage: 'And in French?' })
      expect(result?.conversation[2]).toEqual(userMessage('And in French?'))
    }
  })
}
