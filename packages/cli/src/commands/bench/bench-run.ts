import type { Stet, StreamEvent } from '@stet/sdk'
import { describeFailure } from '../../exit-code.ts'

/** The input that all runs of a benchmark share. */
export interface BenchPrompt {
  path: string
  versionUuid: string
  parameters: Record<string, unknown>
  customIdentifier: string
  isStream: boolean
}

export interface DoneRun {
  kind: 'done'
  ms: number
  /** Undefined for JSON runs, and for runs without text. */
  firstTextMs: number | undefined
  /** Both are 0 for JSON runs. */
  events: number
  textBytes: number
  cost: number
}

export interface FailedRun {
  kind: 'failed'
  cause: string
  message: string
  error: unknown
}

export type RunOutcome = DoneRun | FailedRun | { kind: 'stopped' }

export interface ActiveRun {
  /** Never rejects. */
  outcome: Promise<RunOutcome>
  /** Ends the run. Resolves when the server has answered the stop, or at once if the run's uuid is unknown. */
  stop(): Promise<void>
}

/** `client` must not retry: a retry would hide a failure and count as latency. */
export function startBenchRun(client: Stet, prompt: BenchPrompt): ActiveRun {
  const startedAt = performance.now()
  const measured = { firstTextMs: undefined as number | undefined, events: 0, textBytes: 0 }
  const finished = prompt.isStream ? startStream(client, prompt, startedAt, measured) : startJson(client, prompt)
  let isStopped = false
  return {
    outcome: finished.result.then(
      (cost): RunOutcome => ({ kind: 'done', ms: performance.now() - startedAt, cost, ...measured }),
      async (error: unknown): Promise<RunOutcome> => (isStopped ? { kind: 'stopped' } : describeFailedRun(error)),
    ),
    async stop() {
      isStopped = true
      await finished.stop()
    },
  }
}

interface Sent {
  /** Resolves to the cost of the run. */
  result: Promise<number>
  stop(): Promise<void>
}

function startStream(
  client: Stet,
  { path, isStream: _, ...options }: BenchPrompt,
  startedAt: number,
  measured: Pick<DoneRun, 'firstTextMs' | 'events' | 'textBytes'>,
): Sent {
  const onEvent = ({ event, data }: StreamEvent): void => {
    measured.events += 1
    if (event !== 'provider-event' || data.type !== 'text-delta') return
    measured.firstTextMs ??= performance.now() - startedAt
    measured.textBytes += Buffer.byteLength(data.textDelta)
  }
  const stream = client.prompts.stream(path, { ...options, onEvent })
  return { result: stream.finalResult().then(({ cost }) => cost), stop: () => stream.abort() }
}

function startJson(client: Stet, { path, isStream, ...options }: BenchPrompt): Sent {
  const controller = new AbortController()
  const run = client.prompts.run(path, { ...options, stream: isStream, signal: controller.signal })
  return { result: Promise.resolve(run).then(({ cost }) => cost), stop: async () => controller.abort() }
}

async function describeFailedRun(error: unknown): Promise<FailedRun> {
  const { status, errorCode, message } = await describeFailure(error)
  const reason = error instanceof Error && 'reason' in error ? error.reason : undefined
  const cause =
    status === undefined
      ? (socketCodeOf(error) ?? (error instanceof Error ? error.name : 'unknown'))
      : [status, errorCode, typeof reason === 'string' ? reason : undefined].filter(Boolean).join(' ')
  return { kind: 'failed', cause, message, error }
}

/** Returns the code of a failed connection, such as ECONNREFUSED. The SDK's error wraps the error that has the code. */
function socketCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return 'code' in error && typeof error.code === 'string' ? error.code : socketCodeOf(error.cause)
}
