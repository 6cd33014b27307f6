import type { ChildProcess } from 'node:child_process'
import { type Isolation, launchWorker } from './isolation.ts'
import { encodeLine, lineReader, MAX_REPLY_BYTES, READY, type WorkerReply, type WorkerRequest } from './protocol.ts'
import { parseReply } from './replies.ts'
import { cpuShareOf, startWorkClock, type WorkEnd } from './work-clock.ts'

/** `starved`: the machine was too busy for the worker to reply. The prompt may be valid. */
export type CallOutcome =
  | { kind: 'reply'; reply: WorkerReply }
  | { kind: 'timeout' }
  | { kind: 'starved' }
  | { kind: 'died' }

export interface WorkerProcess {
  /** Resolves to false if the process ended before it was ready. */
  ready: Promise<boolean>
  exited: Promise<void>
  call(request: Omit<WorkerRequest, 'id'>, timeoutMs: number): Promise<CallOutcome>
  /** True after the first call. Other prompts may have left data in memory. */
  isUsed(): boolean
  isWorn(): boolean
  kill(): void
}

const MAX_CALLS = 10_000
const MAX_RESIDENT_BYTES = 200 * 1024 * 1024
/** Half of the heap limit, because the next call may need the other half. */
const MAX_HEAP_BYTES = 48 * 1024 * 1024

interface Pending {
  id: number
  settle(outcome: CallOutcome): void
}

interface WorkerState {
  alive: boolean
  calls: number
  residentBytes: number
  heapBytes: number
  pending: Pending | undefined
}

export function startWorker(workerFile: string, isolation: Isolation): WorkerProcess {
  const worker = launchWorker(workerFile, isolation)
  const state: WorkerState = { alive: true, calls: 0, residentBytes: 0, heapBytes: 0, pending: undefined }
  const kill = (): void => {
    state.alive = false
    worker.kill('SIGKILL')
  }
  const settle = (outcome: CallOutcome): void => {
    const { pending } = state
    state.pending = undefined
    pending?.settle(outcome)
  }
  const { ready, onLine } = greeting((line) => {
    const read = parseReply(line, state.pending?.id)
    if (!read) return kill()
    state.residentBytes = read.residentBytes
    state.heapBytes = read.heapBytes
    settle({ kind: 'reply', reply: read.reply })
  })
  readLines(worker, onLine, kill)
  const exited = new Promise<void>((resolve) => {
    const end = (): void => {
      state.alive = false
      settle({ kind: 'died' })
      resolve()
    }
    worker.once('exit', end)
    worker.once('error', end)
  })
  // Handles writes to a worker that just died. Its exit settles the call.
  worker.stdin?.on('error', kill)
  return {
    ready: Promise.race([ready.then(() => true), exited.then(() => false)]),
    exited,
    call: (request, timeoutMs) => callWorker({ worker, state, kill }, request, timeoutMs),
    isUsed: () => state.calls > 0,
    isWorn: () =>
      !state.alive ||
      state.calls >= MAX_CALLS ||
      state.residentBytes > MAX_RESIDENT_BYTES ||
      state.heapBytes > MAX_HEAP_BYTES,
    kill,
  }
}

function greeting(onReply: (line: string) => void): { ready: Promise<void>; onLine: (line: string) => void } {
  let greet: (() => void) | undefined
  const ready = new Promise<void>((resolve) => {
    greet = resolve
  })
  const onLine = (line: string): void => {
    if (!greet) onReply(line)
    else if (line === JSON.stringify(READY)) greet()
    greet = undefined
  }
  return { ready, onLine }
}

function readLines(worker: ChildProcess, onLine: (line: string) => void, kill: () => void): void {
  let unendedBytes = 0
  const read = lineReader((line) => {
    unendedBytes = 0
    onLine(line)
  })
  worker.stdout?.setEncoding('utf8')
  worker.stdout?.on('data', (chunk: string) => {
    unendedBytes += chunk.length
    if (unendedBytes > 2 * MAX_REPLY_BYTES) return kill()
    read(chunk)
  })
}

async function callWorker(
  { worker, state, kill }: { worker: ChildProcess; state: WorkerState; kill: () => void },
  request: Omit<WorkerRequest, 'id'>,
  timeoutMs: number,
): Promise<CallOutcome> {
  if (!state.alive) return { kind: 'died' }
  state.calls += 1
  const id = state.calls
  return new Promise((resolve) => {
    const onEnd = (end: WorkEnd): void => {
      state.pending = undefined
      kill()
      resolve({ kind: end === 'spent' ? 'timeout' : 'starved' })
    }
    const stopClock = startWorkClock({ limitMs: timeoutMs, shareOf: () => cpuShareOf(worker.pid), onEnd })
    const settle = (outcome: CallOutcome): void => {
      stopClock()
      resolve(outcome)
    }
    state.pending = { id, settle }
    worker.stdin?.write(encodeLine({ id, ...request }))
  })
}
