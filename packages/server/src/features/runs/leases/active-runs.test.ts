import { expect, it } from 'vitest'
import type { StoredConversation } from '../ports.ts'
import { type ActiveRun, type ActiveRuns, createActiveRuns } from './active-runs.ts'

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
  via: 'api',
  config: {},
  createdAt: new Date(0),
  messages: [{ role: 'assistant', content: [{ type: 'text', text }] }],
  status: 'completed',
  epoch: 1,
  lastEventId: 1,
  updatedAt: new Date(0),
  latestRun: null,
})

function end(runs: ActiveRuns, uuid: string, text: string): void {
  const ended = conversation(uuid, text)
  const run: ActiveRun = {
    runUuid: `run-${uuid}`,
    conversationUuid: uuid,
    workspaceId: 1,
    view: () => ended,
    ended: Promise.resolve(),
    abort: () => undefined,
    giveUp: () => undefined,
  }
  runs.add(run)
  runs.remove(run, ended)
}

it('remembers an idle conversation, unless it is too large', () => {
  const runs = createActiveRuns(1_000_000)
  end(runs, 'small', 'x'.repeat(60_000))
  end(runs, 'large', 'x'.repeat(70_000))
  expect(runs.findIdle(1, 'small')?.uuid).toBe('small')
  expect(runs.findIdle(1, 'large')).toBeUndefined()
  expect(runs.list()).toEqual([])
})

it('keeps the newest idle and queued conversations that fit the byte limit', () => {
  const runs = createActiveRuns(100_000)
  const uuids = ['a', 'b', 'c', 'd', 'e', 'f']
  const text = 'x'.repeat(20_000)
  for (const uuid of uuids) end(runs, uuid, text)
  expect(uuids.filter((uuid) => runs.findIdle(1, uuid))).toEqual(['e', 'f'])
  for (const uuid of uuids) runs.rememberQueued(uuid, { conversation: conversation(uuid, text), input: '{}' }, false)
  expect(uuids.filter((uuid) => runs.takeQueued(uuid))).toEqual(['e', 'f'])
})
