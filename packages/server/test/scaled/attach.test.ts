/** Promise 6 with three servers: each connection of each reader may be to another server. */
import { afterAll, beforeAll, it } from 'vitest'
import { environment, expectSameBytes, prompts } from '../runs/attached-readers.ts'
import { count, timeFor } from '../support/counts.ts'
import { openReplicas, type Replicas } from '../support/replicas.ts'

const cases = count(20, 5_000)

let replicas: Replicas
beforeAll(async () => {
  replicas = await openReplicas(prompts, { environment })
})
afterAll(() => replicas.close())

it(
  'promise 6: readers that attach to any server, in any state, with any cuts, get every event once, with the same bytes',
  async () => {
    const { fake, project, query } = replicas
    const sql = 'SELECT event_log FROM run WHERE conversation_uuid = $1'
    const eventLogOf = async (uuid: string) => (await query<{ event_log: Buffer }>(sql, [uuid]))[0]?.event_log
    await expectSameBytes({ fake, live: project.live, servers: [0, 1, 2].map(replicas.server), eventLogOf }, cases)
  },
  timeFor(cases, 4_000),
)
