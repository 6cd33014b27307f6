import { countGarbage } from '../../shared/collect-garbage.ts'
import { type Isolation, type LaunchedWorker, launchWorker } from './isolation.ts'
import { encodeLine, lineReader, MAX_REPLY_BYTES, type WorkerCall, type WorkerReply } from './protocol.ts'
import { parseReply } from './replies.ts'
import { cpuShareOf, startWorkClock, type WorkEnd } from './work-clock.ts'

/** `starved`: the machine was too busy to give the worker process its CPU time. The prompt may be valid. */
export type CallOutcome = { kind: 'reply'; reply: WorkerReply } | { kind: 'timeout' | 'starved' | 'died' }

export type WorkerProcess = ReturnType<typeof startWorker>

interface WorkerState {
  isAlive: boolean
  calls: number
  residentBytes: number
  heapBytes: number
  /** The current call, or the start with id 0. A worker process replies to the start when ready. */
  pending: { id: number; settle(outcome: CallOutcome): void } | undefined
  kill(): void
}

export function startWorker(workerFile: string, isolation: Isolation) {
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
  // A write to a worker process that just died fails. The exit of the process settles the call.
  worker.stdin.on('error', state.kill)
  return {
    /** Resolves to false if the process ended before it was ready. */
    ready,
    exited,
    call: (request: WorkerCall, timeoutMs: number) => callWorker(worker, state, request, timeoutMs),
    /** True after the first call. Earlier calls may have left data in the memory of the worker process. */
    isUsed: () => state.calls > 0,
    isWorn: () =>
      !state.isAlive ||
      state.calls >= 10_000 ||
      state.residentBytes > 200 * 1024 * 1024 ||
      // Half of the heap limit, because the next call may need the other half.
      state.heapBytes > 48 * 1024 * 1024,
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
    countGarbage(line.length)
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
  request: WorkerCall,
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
    const line = encodeLine({ id, ...request })
    countGarbage(line.length)
    stdin.write(line)
  })
}
