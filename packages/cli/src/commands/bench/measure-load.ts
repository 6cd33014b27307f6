import type { Stet } from '@stet/sdk'
import type { Context } from '../../context.ts'
import { type ActiveRun, type BenchPrompt, startBenchRun } from './bench-run.ts'
import { driveLoad, type Load } from './drive-load.ts'
import { Tally } from './tally.ts'

export interface LoadSetUp {
  /** One per server. The runs take turns. */
  clients: readonly Stet[]
  prompt: BenchPrompt
  load: Load
}

export interface MeasuredLoad {
  tally: Tally
  /** In the order of the clients. */
  servers: readonly { done: number; failed: number }[]
  /** From the start of the first run to the end of the last one that was not stopped. */
  seconds: number
  /** CPU of this process, all threads. */
  cpuSeconds: number
  /** The time that `cpuSeconds` was measured over. */
  cpuWindowSeconds: number
}

const PROGRESS_MS = 5000

export async function measureLoad(
  { clients, prompt, load }: LoadSetUp,
  signal: AbortSignal,
  ctx: Context,
): Promise<MeasuredLoad> {
  const tally = new Tally()
  const servers = clients.map((client) => ({ client, done: 0, failed: 0 }))
  const turns = takeTurns(servers)
  const startedAt = performance.now()
  const cpuAtStart = process.cpuUsage()
  const start = (): ActiveRun => {
    const server = turns.next().value
    const { outcome, stop } = startBenchRun(server.client, prompt)
    const count = outcome.then((ended) => {
      tally.add(ended)
      if (ended.kind !== 'stopped') server[ended.kind] += 1
      return ended
    })
    return { outcome: count, stop }
  }
  const progress = setInterval(() => sayProgress(tally, (performance.now() - startedAt) / 1000, ctx), PROGRESS_MS)
  try {
    await driveLoad(load, start, signal)
  } finally {
    clearInterval(progress)
  }
  const { user, system } = process.cpuUsage(cpuAtStart)
  const now = performance.now()
  return {
    tally,
    servers,
    seconds: ((tally.lastEndAt ?? now) - startedAt) / 1000,
    cpuSeconds: (user + system) / 1e6,
    cpuWindowSeconds: (now - startedAt) / 1000,
  }
}

export function* takeTurns<T>(items: readonly T[]): Generator<T, never> {
  for (;;) yield* items
}

function sayProgress({ done, failed }: Tally, seconds: number, ctx: Context): void {
  if (!ctx.io.tty.stderr) return
  const parts = [`${Math.round(seconds)} s`, `${done} runs`, `${(done / seconds).toFixed(1)}/s`, `${failed} failed`]
  ctx.say(ctx.style.dim(`  ${parts.join(' · ')}`))
}
