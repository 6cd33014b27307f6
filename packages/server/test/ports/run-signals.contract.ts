/** The contract of all run signals: a stop reaches its run's listener, even if it subscribes later. */
import { describe, expect, it } from 'vitest'
import type { RunSignals } from '../../src/features/runs/ports.ts'

export function describeRunSignals(name: string, create: () => Promise<RunSignals>): void {
  describe(`run signals: ${name}`, () => {
    it("deliver a stop only to its run's listener", async () => {
      const signals = await create()
      const heard: string[] = []
      signals.onStop('one', () => heard.push('one'))
      signals.onStop('two', () => heard.push('two'))
      signals.stop('two')
      await expect.poll(() => heard).toEqual(['two'])
      signals.stop('one')
      await expect.poll(() => heard).toEqual(['two', 'one'])
    })

    it('keep a stop for a later listener and deliver it once', async () => {
      const signals = await create()
      const heard: string[] = []
      signals.onStop('last', () => heard.push('last'))
      for (const run of ['run', 'run', 'last']) signals.stop(run)
      // Signals arrive in order, so both stops have arrived.
      await expect.poll(() => heard).toEqual(['last'])
      const end = signals.onStop('run', () => heard.push('first'))
      await expect.poll(() => heard).toEqual(['last', 'first'])
      end()
      signals.onStop('run', () => heard.push('second'))
      // If the first stop were still stored, `second` would be delivered twice.
      signals.stop('run')
      await expect.poll(() => heard).toEqual(['last', 'first', 'second'])
    })

    it('deliver nothing to a listener that has unsubscribed', async () => {
      const signals = await create()
      const heard: string[] = []
      const end = signals.onStop('run', () => heard.push('ended'))
      signals.onStop('other', () => heard.push('other'))
      end()
      signals.stop('run')
      signals.stop('other')
      await expect.poll(() => heard).toEqual(['other'])
    })
  })
}
