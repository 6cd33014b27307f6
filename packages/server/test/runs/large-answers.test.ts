import { expect, it } from 'vitest'
import { createLargeAnswers } from '../../src/adapters/in-process/large-answers.ts'

const megabyte = 1_048_576
const never = 1_000_000_000

/** Requests answers and records in which order they are taken. */
function answers(mostMegabytes: number, patienceMs = never) {
  const large = createLargeAnswers(mostMegabytes * megabyte, patienceMs)
  const taken: string[] = []
  const hold = (conversationUuid: string, megabytes: number, workspaceId = 1, signal = new AbortController().signal) =>
    large.hold({ conversationUuid, workspaceId, bytes: megabytes * megabyte }, signal).then(() => {
      taken.push(conversationUuid)
    })
  const settled = async () => {
    await new Promise(setImmediate)
    return taken.splice(0)
  }
  return { release: large.release, hold, settled }
}

it('takes answers in the order in which they arrive, as room becomes free', async () => {
  const { hold, release, settled } = answers(8)
  for (const name of ['a', 'b', 'c', 'd']) void hold(name, 2)
  expect(await settled()).toEqual(['a', 'b'])
  release('b')
  expect(await settled()).toEqual(['c'])
  release('a')
  release('a')
  expect(await settled()).toEqual(['d'])
})

it('leaves half of the room to other workspaces', async () => {
  const { hold, release, settled } = answers(8)
  for (const name of ['a', 'b', 'c']) void hold(name, 2)
  void hold('other', 4, 2)
  expect(await settled()).toEqual(['a', 'b', 'other'])
  void hold('third', 2, 3)
  expect(await settled()).toEqual([])
  release('other')
  expect(await settled()).toEqual(['third'])
})

it('takes one answer of any size', async () => {
  const { hold, release, settled } = answers(2)
  void hold('large', 32)
  void hold('next', 32)
  expect(await settled()).toEqual(['large'])
  release('large')
  expect(await settled()).toEqual(['next'])
})

it('takes further answers of a run that holds one, so that no two runs wait for each other', async () => {
  const { hold, settled } = answers(2)
  void hold('a', 2)
  void hold('a', 2)
  expect(await settled()).toEqual(['a', 'a'])
})

it('stops waiting after an abort, without taking room, and after its patience', async () => {
  const { hold, release, settled } = answers(2)
  const stop = new AbortController()
  void hold('a', 2)
  void hold('stopped', 2, 1, stop.signal)
  void hold('b', 2)
  stop.abort()
  expect(await settled()).toEqual(['a', 'stopped'])
  release('a')
  expect(await settled()).toEqual(['b'])

  const impatient = answers(2, 1)
  await impatient.hold('a', 2)
  await impatient.hold('b', 2)
  expect(await impatient.settled()).toEqual(['a', 'b'])
})
