import { type Isolation, type LaunchedWorker, launchWorker } from './isolation.ts'
import { encodeLine, lineReader, MAX_REPLY_BYTES, type WorkerReply, type WorkerRequest } from './protocol.ts'
import { parseReply } from './replies.ts'
import { cpuShareOf, startWorkClock, type WorkEnd } from './work-clock.ts'

/** `starved`: the machine was too busy to give the worker its CPU time. The prompt may be valid. */
export type CallOutcome = { kind: 'reply'; reply: WorkerReply } | { kind: 'timeout' | 'starved' | 'died' }

export interface WorkerProcess {
  /** Resolves to false if the process ended before it was ready. */
  ready: Promise<boolean>
  exited: Promise<void>
  call(request: Omit<WorkerRequest, 'id'>, timeoutMs: number): Promise<CallOutcome>
  /** True after the first call. Earlier calls may have left data in the worker's memory. */
  isUsed(): boolean
  isWorn(): boolean
  kill(): void
}

const MAX_CALLS = 10_000
const MAX_RESIDENT_BYTES = 200 * 1024 * 1024
/** Half of the heap limit, because the next call may need the other half. */
const MAX_HEAP_BYTES = 48 * 1024 * 1024

interface WorkerState {
  isAlive: boolean
  calls: number
  residentBytes: number
  heapBytes: number
  /** The current call, or the start with id 0. A worker process replies to the start when ready. */
  pending: { id: number; settle(outcome: CallOutcome): void } | undefined
  kill(): void
}

export function startWorker(workerFile: string, isolation: Isolation): WorkerProcess {
  const worker = launchWorker(workerFile, isolation)
  const state: WorkerState = {
    ...{ isAlive: true, calls: 0, residentBytes: 0, heapBytes: 0, pending: undefined },
    kill() {
      state.isAlive = false
      worker.kill('SIGKILL')
    },
  }
  const ready = new Promise<boolean>((resolve) => {
    state.pending = { id: 0, settle: ({ kind }) => resolve(kind === 'reply') }
  })
  readReplies(worker, state)
  const exited = new Promise<void>((resolve) => {
    const end = (): void => {
      state.isAlive = false
      settle(state, { kind: 'died' })
      resolve()
    }
    worker.once('exit', end)
    worker.once('error', end)
  })
  // A write to a worker that just died fails. The exit of the worker process settles the call.
  worker.stdin.on('error', state.kill)
  return {
    ready,
    exited,
    call: (request, timeoutMs) => callWorker(worker, state, request, timeoutMs),
    isUsed: () => state.calls > 0,
    isWorn: () =>
      !state.isAlive ||
      state.calls >= MAX_CALLS ||
      state.residentBytes > MAX_RESIDENT_BYTES ||
      state.heapBytes > MAX_HEAP_BYTES,
    kill: state.kill,
  }
}

function settle(state: WorkerState, outcome: CallOutcome): void {
  const { pending } = state
  state.pending = undefined
  pending?.settle(outcome)
}

function readReplies({ stdout }: LaunchedWorker, state: WorkerState): void {
  let unendedBytes = 0
  const readLines = lineReader((line) => {
    unendedBytes = 0
    const read = parseReply(line, state.pending?.id)
    if (!read) return state.kill()
    const { reply, ...memory } = read
    Object.assign(state, memory)
    settle(state, { kind: 'reply', reply })
  })
  stdout.setEncoding('utf8')
  stdout.on('data', (chunk: string) => {
    unendedBytes += chunk.length
    if (unendedBytes > 2 * MAX_REPLY_BYTES) return state.kill()
    readLines(chunk)
  })
}

function callWorker(
  { pid, stdin }: LaunchedWorker,
  state: WorkerState,
  request: Omit<WorkerRequest, 'id'>,
  timeoutMs: number,
): Promise<CallOutcome> {
  if (!state.isAlive) return Promise.resolve({ kind: 'died' })
  state.calls += 1
  const id = state.calls
  return new Promise((resolve) => {
    const onEnd = (end: WorkEnd): void => {
      state.kill()
      settle(state, { kind: end === 'spent' ? 'timeout' : 'starved' })
    }
    const stopClock = startWorkClock({ limitMs: timeoutMs, shareOf: () => cpuShareOf(pid), onEnd })
    state.pending = {
      id,
      settle(outcome) {
        stopClock()
        resolve(outcome)
      },
    }
    stdin.write(encodeLine({ id, ...request }))
  })
}
