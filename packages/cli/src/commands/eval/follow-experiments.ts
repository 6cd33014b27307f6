import { setTimeout as sleep } from 'node:timers/promises'
import type { Experiment, Stet } from '@stet/sdk'
import type { Context } from '../../context.ts'
import { CliError, codeOfSignal, describeFailure } from '../../exit-code.ts'
import type { EndSignal } from '../../io.ts'
import { shortUuid } from '../../terminal/output.ts'
import { Interruption } from '../../ui/interruption.ts'
import { showProgress } from '../../ui/progress.ts'

const FIRST_POLL_MS = 200
const POLL_MS = 2000

/**
 * Waits until all experiments have ended. The first Ctrl-C stops or leaves them (`onInterrupt`). The second ends the
 * program.
 */
export async function followExperiments(
  client: Stet,
  started: readonly Experiment[],
  onInterrupt: 'stop' | 'leave',
  ctx: Context,
): Promise<Experiment[]> {
  const interruption = new Interruption(ctx)
  const known = [...started]
  const isOpen = known.some(({ state }) => state === 'running')
  if (isOpen) ctx.say(ctx.style.dim(onInterrupt === 'stop' ? '  Ctrl-C stops it' : '  Ctrl-C leaves it running'))
  try {
    await showProgress(ctx, 'runs', (onProgress) => waitForAll(client, known, interruption.signal, onProgress))
    return known
  } catch (error) {
    const open = known.filter(({ state }) => state === 'running')
    const { by } = interruption
    if (by === undefined) throw await explainLoss(error, open)
    throw onInterrupt === 'leave' ? left(by, open) : await stopAll(client, by, open)
  } finally {
    interruption.end()
  }
}

/** Replaces each experiment in `known` by its newest state. */
async function waitForAll(
  client: Stet,
  known: Experiment[],
  signal: AbortSignal,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  let pauseMs = FIRST_POLL_MS
  while (known.some(({ state }) => state === 'running')) {
    const counts = known.map((one) => one.counts)
    const done = counts.reduce((sum, { ended, failed }) => sum + ended + failed, 0)
    onProgress(
      done,
      counts.reduce((sum, { total }) => sum + total, 0),
    )
    await sleep(pauseMs, undefined, { signal })
    pauseMs = Math.min(POLL_MS, pauseMs * 1.5)
    for (const [place, { state, uuid }] of known.entries())
      if (state === 'running') known[place] = await client.experiments.get(uuid)
    signal.throwIfAborted()
  }
}

function left(by: EndSignal, open: readonly Experiment[]): CliError {
  const hint = `run ${commands('watch', open)}`
  return new CliError(codeOfSignal(by), 'Left; the experiment continues', { hint })
}

/** Stops experiments after a signal. Returns the failure to report. */
export async function stopAll(client: Stet, by: EndSignal, open: readonly Experiment[]): Promise<CliError> {
  const { running, why } = await stopEach(client, open)
  if (running.length > 0) {
    return new CliError(codeOfSignal(by), `Left, but the experiment could not be stopped: ${why}`, {
      hint: `run ${commands('stop', running)}`,
    })
  }
  return new CliError(codeOfSignal(by), 'Stopped', {
    ...(open.length > 0 && { hint: `continue with ${commands('resume', open)}` }),
  })
}

/** Stops experiments after a refusal of another one. Returns the failure to report. */
export async function stopRefused(client: Stet, refusal: unknown, open: readonly Experiment[]): Promise<unknown> {
  const { running, why } = await stopEach(client, open)
  if (running.length === 0) return refusal
  const { code, message } = await describeFailure(refusal)
  return new CliError(code, message, {
    lines: [`The experiment that started before could not be stopped: ${why}`],
    hint: `run ${commands('stop', running)}`,
    cause: refusal,
  })
}

async function stopEach(client: Stet, open: readonly Experiment[]): Promise<{ running: Experiment[]; why: string }> {
  const running: Experiment[] = []
  let why = ''
  for (const experiment of open) {
    try {
      await client.experiments.stop(experiment.uuid)
    } catch (error) {
      running.push(experiment)
      why = (await describeFailure(error)).message
    }
  }
  return { running, why }
}

/** The experiments continue without this program. */
async function explainLoss(error: unknown, open: readonly Experiment[]): Promise<unknown> {
  const { code, message } = await describeFailure(error)
  if (code !== 'unreachable') return error
  const hint = `the experiment may continue on the server: run ${commands('watch', open)}`
  return new CliError('unreachable', message, { hint, cause: error })
}

function commands(verb: 'watch' | 'resume' | 'stop', open: readonly Experiment[]): string {
  return open.map(({ uuid }) => `stet eval ${verb} ${shortUuid(uuid)}`).join(', ')
}
