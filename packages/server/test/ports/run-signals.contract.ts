/** The promises of all signals to owners: a stop reaches the listener of its run, also one that subscribes later. */
import { describe, expect, it } from 'vitest'
import type { RunSignals } from '../../src/features/runs/ports.ts'

export function describeRunSignals(name: string, create: () => RunSignals): void {
  describe(`run signals: ${name}`, () => {
    it('reach the listener of their run, and no other', async () => {
      const signals = create()
      const heard: string[] = []
      signals.onStop('one', () => heard.push('one'))
      signals.onStop('two', () => heard.push('two'))
      signals.stop('two')
      await expect.poll(() => heard).toEqual(['two'])
      signals.stop('one')
      await expect.poll(() => heard).toEqual(['two', 'one'])
    })

    it('that arrive before their listener are kept for it, and delivered once', async () => {
      const signals = create()
      const heard: string[] = []
      signals.stop('run')
      signals.stop('run')
      const end = signals.onStop('run', () => heard.push('first'))
      await expect.poll(() => heard).toEqual(['first'])
      end()
      signals.onStop('run', () => heard.push('second'))
      // A later stop is delivered, so nothing was left over.
      signals.stop('run')
      await expect.poll(() => heard).toEqual(['first', 'second'])
    })

    it('do not reach who listens no more', async () => {
      const signals = create()
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
