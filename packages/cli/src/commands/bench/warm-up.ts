import type { Context } from '../../context.ts'
import type { Interruption } from '../../ui/interruption.ts'
import { withMissingParameters } from '../../ui/parameters.ts'
import { type BenchPrompt, type RunOutcome, startBenchRun } from './bench-run.ts'
import { driveLoad } from './drive-load.ts'
import { type LoadSetUp, takeTurns } from './measure-load.ts'

export interface WarmUp {
  runs: number
  failed: number
}

/**
 * Runs the prompt once on each server, one after the other, and then with the load's concurrency. Returns the prompt
 * with the parameters that the user was asked for.
 * @throws the error of a first run, because every further run would fail in the same way
 */
export async function warmUpServers(
  { clients, prompt, load }: LoadSetUp,
  runs: number,
  interruption: Interruption,
  ctx: Context,
): Promise<{ warmUp: WarmUp; prompt: BenchPrompt }> {
  let ready = prompt
  const first = clients.slice(0, runs)
  for (const client of first) {
    const runOnce = async (parameters: Record<string, unknown>): Promise<BenchPrompt> => {
      const tried = { ...prompt, parameters }
      const run = startBenchRun(client, tried)
      const stop = (): void => void run.stop()
      interruption.signal.addEventListener('abort', stop)
      const outcome = await run.outcome.finally(() => interruption.signal.removeEventListener('abort', stop))
      interruption.throwIfInterrupted('Stopped before the measurement')
      if (outcome.kind === 'failed') throw outcome.error
      return tried
    }
    ready = await withMissingParameters(runOnce, ready.parameters, ctx)
  }
  let failed = 0
  const turns = takeTurns(clients)
  const start = () => {
    const run = startBenchRun(turns.next().value, ready)
    const count = (outcome: RunOutcome): RunOutcome => {
      if (outcome.kind === 'failed') failed += 1
      return outcome
    }
    return { ...run, outcome: run.outcome.then(count) }
  }
  const rest = runs - first.length
  if (rest > 0) await driveLoad({ concurrency: load.concurrency, runs: rest }, start, interruption.signal)
  interruption.throwIfInterrupted('Stopped before the measurement')
  return { warmUp: { runs, failed }, prompt: ready }
}
