import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { inBatches } from './check-document.ts'

describe('inBatches', () => {
  it('does one batch of all longer lists per turn of the event loop', async () => {
    const templates = { inTurn: <T>(_owner: unknown, work: () => Promise<T>) => work() }
    const texts = Array.from({ length: 24 }, (_, index) => index)
    let checked = 0
    let ended = 0
    const check = async (text: number) => {
      checked += 1
      return text
    }
    const list = async () => {
      const parts = (async function* () {
        yield texts
      })()
      const results: number[] = []
      for await (const result of inBatches({ templates }, parts, { workspaceId: 1 }, check)) results.push(result)
      expect(results).toEqual(texts)
      ended += 1
    }
    const lists = Promise.all([list(), list(), list(), list()])
    // Short lists do not wait, so the first batch of each list comes at once.
    while (checked === 0) await nextTurn()
    expect(checked).toBe(32)
    for (let before = checked; ended < 4; before = checked) {
      await nextTurn()
      expect(checked - before).toBeLessThanOrEqual(8)
    }
    await lists
    expect(checked).toBe(4 * texts.length)
  })
})
