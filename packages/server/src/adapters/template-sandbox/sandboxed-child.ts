import type { ChildProcess } from 'node:child_process'
import { launchChild } from './launch-child.ts'
import { type ChildReply, type ChildRequest, encodeLine, lineReader, MAX_REPLY_BYTES, READY } from './protocol.ts'
import { parseReply } from './reply.ts'
import { cpuShareOf, startWorkClock, type WorkEnd } from './work-clock.ts'

/** `starved`: a busy machine kept the child from answering; the prompt may be good. */
export type CallOutcome =
  | { kind: 'reply'; reply: ChildReply }
  | { kind: 'timeout' }
  | { kind: 'starved' }
  | { kind: 'died' }

/** One locked-down process. It takes one call at a time and lives until it is killed, retired or dies. */
export interface SandboxedChild {
  /** True when it greeted; false when it ended before. */
  ready: Promise<boolean>
  exited: Promise<void>
  call(request: Omit<ChildRequest, 'id'>, timeoutMs: number): Promise<CallOutcome>
  /** True when it was called before: memory may be left of other prompts. */
  isUsed(): boolean
  /** True when it has ended, has served its share of calls or has grown too large for the next one. */
  isWorn(): boolean
  kill(): void
}

const MAX_CALLS = 10_000
const MAX_RESIDENT_BYTES = 200 * 1024 * 1024
/** Half of the heap's limit: the next call may need the other half. */
const MAX_HEAP_BYTES = 48 * 1024 * 1024

interface Pending {
  id: number
  settle(outcome: CallOutcome): void
}

interface ChildState {
  alive: boolean
  calls: number
  residentBytes: number
  heapBytes: number
  pending: Pending | undefined
}

export function startChild(childFile: string): SandboxedChild {
  const child = launchChild(childFile)
  const state: ChildState = { alive: true, calls: 0, residentBytes: 0, heapBytes: 0, pending: undefined }
  const kill = (): void => {
    state.alive = false
    child.kill('SIGKILL')
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
  readLines(child, onLine, kill)
  const exited = new Promise<void>((resolve) => {
    const end = (): void => {
      state.alive = false
      settle({ kind: 'died' })
      resolve()
    }
    child.once('exit', end)
    child.once('error', end)
  })
  // Writing to a child that has just died; its exit settles the call.
  child.stdin?.on('error', kill)
  return {
    ready: Promise.race([ready.then(() => true), exited.then(() => false)]),
    exited,
    call: (request, timeoutMs) => callChild({ child, state, kill }, request, timeoutMs),
    isUsed: () => state.calls > 0,
    isWorn: () =>
      !state.alive ||
      state.calls >= MAX_CALLS ||
      state.residentBytes > MAX_RESIDENT_BYTES ||
      state.heapBytes > MAX_HEAP_BYTES,
    kill,
  }
}

/** The first line is the greeting, all others are replies. */
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

function readLines(child: ChildProcess, onLine: (line: string) => void, kill: () => void): void {
  let unendedBytes = 0
  const read = lineReader((line) => {
    unendedBytes = 0
    onLine(line)
  })
  child.stdout?.setEncoding('utf8')
  child.stdout?.on('data', (chunk: string) => {
    unendedBytes += chunk.length
    if (unendedBytes > 2 * MAX_REPLY_BYTES) return kill()
    read(chunk)
  })
}

async function callChild(
  { child, state, kill }: { child: ChildProcess; state: ChildState; kill: () => void },
  request: Omit<ChildRequest, 'id'>,
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
    const stopClock = startWorkClock({ limitMs: timeoutMs, shareOf: () => cpuShareOf(child.pid), onEnd })
    const settle = (outcome: CallOutcome): void => {
      stopClock()
      resolve(outcome)
    }
    state.pending = { id, settle }
    child.stdin?.write(encodeLine({ id, ...request }))
  })
}
