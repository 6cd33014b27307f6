import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { connectRedis } from '../../../../src/adapters/redis/connections.ts'
import { createSharedRunQueue } from '../../../../src/adapters/redis/run-queue.ts'
import { refuse } from '../../../../src/shared/app-error.ts'
import { orphanedRun } from '../../../runs/orphaned-run.ts'
import { closedPort } from '../../../support/kept-port.ts'
import { inLive, type Scenario, to } from '../scenario.ts'
import { failedRun, type World } from '../world.ts'

const messages = [{ role: 'user', content: 'x' }]
const parameters = { name: 'x' }

/** Calls while the ends of runs cannot be stored. */
async function unstored(world: World, call: () => ReturnType<Scenario>): ReturnType<Scenario> {
  const { settings, store } = world.bench.server.deps.runs
  const { storeWaitMs } = settings
  const { end } = store
  settings.storeWaitMs = 0
  store.end = () => Promise.reject(refuse('disk-full'))
  try {
    return await call()
  } finally {
    store.end = end
    settings.storeWaitMs = storeWaitMs
  }
}

async function failedConversation(world: World): Promise<{ conversationUuid: string }> {
  const { body } = await failedRun(world)
  return { conversationUuid: String(body.details?.['conversationUuid']) }
}

const tags = ['feedback:up']

export const runCauses: Record<string, Scenario> = {
  'runs.run invalid-tag': (world) => to('runs.run', world, { ids: inLive(world), body: { path: 'hello', tags } }),
  'conversations.update invalid-tag': ({ conversationUuid, ...world }) =>
    to('conversations.update', { conversationUuid, ...world }, { ids: { conversationUuid }, body: { tags } }),
  'runs.run messages-with-steps': (world) =>
    to('runs.run', world, { ids: inLive(world), body: { path: 'steps', messages } }),
  'runs.run missing-parameters': (world) => to('runs.run', world, { ids: inLive(world), body: { path: 'counting' } }),
  'runs.run invalid-parameters': (world) =>
    to('runs.run', world, { ids: inLive(world), body: { path: 'counting', parameters: { count: 'many' } } }),
  'runs.run prompt-does-not-compile': (world) =>
    to('runs.run', world, { ids: { ...inLive(world), versionUuid: world.brokenDraft }, body: { path: 'broken' } }),
  'runs.run run-failed': (world) => failedRun(world),
  'runs.run run-not-stored': (world) =>
    unstored(world, () => to('runs.run', world, { ids: inLive(world), body: { path: 'hello', parameters } })),
  'runs.attach unknown-run': ({ conversationUuid, ...world }) =>
    to('runs.attach', { conversationUuid, ...world }, { ids: { conversationUuid }, body: { runUuid: randomUUID() } }),
  'projects.stats too-many-stats': async (world) => {
    const { inTurn } = world.bench.server.deps.stats
    const me = await world.bench.api('GET', '/me')
    const { id: apiKeyId } = me.body['apiKey'] as { id: number }
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const { signal } = new AbortController()
    const holding = Array.from({ length: 50 }, () => inTurn({ workspaceId: 1, apiKeyId, signal }, () => gate))
    const answer = await to('projects.stats', world, { ids: { projectId: String(world.project.id) } })
    release()
    await Promise.all(holding)
    return answer
  },
  'runs.run queue-full': async (world) => {
    const key = await world.keyWith({ scopes: ['run', 'read'] })
    const { end } = await world.openRun()
    // One run more than the queue accepts. The open run occupies the only worker.
    const start = () =>
      to('runs.run', world, {
        ids: inLive(world),
        body: { path: 'hello', parameters, background: true },
        key,
      })
    const waiting = await start()
    const answer = await start()
    await world.bench.stop(String(waiting.body['uuid']))
    await end()
    return answer
  },
  'runs.run queue-unavailable': async (world) => {
    const { runs, logger } = world.bench.server.deps
    const url = `redis://127.0.0.1:${await closedPort()}`
    const connections = connectRedis({ url, prefix: 'stet', timeoutMs: 50 }, logger)
    const unavailable = createSharedRunQueue({
      connections,
      workers: 1,
      maxQueuedPerKey: 1,
      countQueued: runs.store.countQueued,
    })
    const { queue } = runs
    runs.queue = unavailable
    const body = { path: 'hello', parameters, background: true }
    const answer = await to('runs.run', world, { ids: inLive(world), body })
    runs.queue = queue
    await unavailable.close()
    await connections.close()
    return answer
  },
  'runs.chat unknown-tool-call': ({ conversationUuid, ...world }) => {
    const result = { type: 'tool-result', toolCallId: 'never', toolName: 'x', result: 1 }
    const body = { messages: [{ role: 'tool', content: [result] }] }
    return to('runs.chat', { conversationUuid, ...world }, { ids: { conversationUuid }, body })
  },
  'runs.chat conversation-busy': async (world) => {
    const { conversationUuid, end } = await world.openRun()
    const answer = await to('runs.chat', world, { ids: { conversationUuid }, body: { messages } })
    await end()
    return answer
  },
  'runs.chat run-failed': async (world) => {
    const ids = await failedConversation(world)
    world.bench.fake.enqueue({ status: 401 })
    return to('runs.chat', world, { ids, body: { messages } })
  },
  'runs.chat run-not-stored': async (world) => {
    const ids = await failedConversation(world)
    return unstored(world, () => to('runs.chat', world, { ids, body: { messages } }))
  },
  'runs.attach run-not-stored': async (world) => {
    const { conversationUuid, end } = await world.openRun()
    return unstored(world, async () => {
      const { readerCount } = world.bench.server.deps.runs.eventLog
      const before = readerCount()
      const attached = to('runs.attach', world, { ids: { conversationUuid }, body: {} })
      await expect.poll(readerCount).toBe(before + 1)
      await end()
      return attached
    })
  },
  'runs.attach run-failed': async (world) =>
    to('runs.attach', world, { ids: await failedConversation(world), body: {} }),
  'runs.attach run-out-of-reach': async (world) => {
    const { deps } = world.bench.server
    const [uuid, ownerId] = [randomUUID(), randomUUID()]
    const begun = { via: 'api', createdAt: new Date() } as const
    await deps.runs.leases.renew(ownerId, 600_000)
    const text = { path: 'hello', contentHash: 'a'.repeat(64), customIdentifier: null, config: {} }
    const place = { workspaceId: 1, projectId: world.project.id, versionUuid: randomUUID(), documentUuid: randomUUID() }
    await deps.runs.store.create(
      { uuid, ...place, ...text, origin: 'run', ...begun },
      { ...orphanedRun(ownerId).run, conversationUuid: uuid },
    )
    return to('runs.attach', world, { ids: { conversationUuid: uuid }, body: {} })
  },
  'conversations.delete conversation-busy': async (world) => {
    const { conversationUuid, end } = await world.openRun()
    const answer = await to('conversations.delete', world, { ids: { conversationUuid } })
    await end()
    return answer
  },
  'conversations.erase unknown-project': (world) =>
    to('conversations.erase', world, { query: '?customIdentifier=x&projectId=2000000000' }),
  'projects.delete wrong-project-name': (world) =>
    to('projects.delete', world, { ids: { projectId: String(world.project.id) }, body: { name: 'another' } }),
  'projects.delete project-busy': async (world) => {
    const projectId = /\d+/.exec(world.bench.live)?.[0] ?? ''
    const { body } = await world.bench.api('GET', '/projects')
    const found = (body as unknown as { id: number; name: string }[]).find(({ id }) => String(id) === projectId)
    const { end } = await world.openRun()
    const answer = await to('projects.delete', world, { ids: { projectId }, body: { name: found?.name } })
    await end()
    return answer
  },
  'conversations.list unknown-project': (world) => to('conversations.list', world, { query: '?projectId=2000000000' }),
  'tools.result unissued-tool-call': (world) => to('tools.result', world, { body: { toolCallId: 'call_unknown' } }),
}
