import { afterEach, beforeEach, expect } from 'vitest'

/** Fails each test of the file that leaves an unhandled rejection. */
export function forbidUnhandledRejections(): void {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  beforeEach(() => void process.on('unhandledRejection', note))
  afterEach(async () => {
    // Node reports an unhandled rejection at the end of the tick.
    await new Promise(setImmediate)
    process.off('unhandledRejection', note)
    expect(unhandled.splice(0)).toEqual([])
  })
}
