import { expect, it } from 'vitest'
import { type ActiveRun, createActiveRuns } from './active-runs.ts'
import type { StoredConversation } from './ports.ts'

const conversation = (uuid: string, text: string): StoredConversation => ({
  uuid,
  workspaceId: 1,
  projectId: 1,
  versionUuid: 'v',
  documentUuid: 'd',
  path: 'p',
  contentHash: 'h',
  customIdentifier: null,
  origin: 'run',
  config: {},
  createdAt: new Date(0),
  messages: [{ role: 'assistant', content: [{ type: 'text', text }] }],
  status: 'completed',
  epoch: 1,
  lastEventId: 1,
  updatedAt: new Date(0),
  latestRun: null,
})

it('remembers an ended conversation, and leaves a large one to its row', () => {
  const runs = createActiveRuns()
  const end = (uuid: string, text: string) => {
    const ended = conversation(uuid, text)
    const run: ActiveRun = {
      runUuid: `run-${uuid}`,
      conversationUuid: uuid,
      workspaceId: 1,
      view: () => ended,
      ended: Promise.resolve(),
      abort: () => undefined,
    }
    runs.add(run)
    runs.remove(run, ended)
    return runs.findIdle(1, uuid)
  }
  expect(end('small', 'x'.repeat(60_000))?.uuid).toBe('small')
  expect(end('large', 'x'.repeat(70_000))).toBeUndefined()
  expect(runs.list()).toEqual([])
})
