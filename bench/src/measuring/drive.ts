import { driveLoad } from '../../../packages/cli/src/commands/bench/drive-load.ts'

/** Sends requests with the generator of `stet bench`. The first error ends the load. */
export async function drive(
  { total, parallel, until }: { total?: number; parallel: number; until?: AbortSignal },
  send: () => Promise<unknown>,
): Promise<void> {
  const start = () => ({ outcome: send().then(() => ({ kind: 'done' })), stop: async () => undefined })
  await driveLoad({ concurrency: parallel, runs: total }, start, until ?? new AbortController().signal, noWaits)
}

/** A request is never stopped, so that its figures are complete. */
const noWaits = { afterEndMs: 0, afterInterruptMs: 0 }
