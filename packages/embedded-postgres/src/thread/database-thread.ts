import { writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { DatabaseSilentError, IO_FAILURE } from '../failure.ts'
import { reviveError } from './carried-error.ts'
import type { Answer, Input, Output, Request, TaskName } from './messages.ts'
import { type SilenceLimits, type SilenceWatch, watchSilence } from './watch-silence.ts'

/** The most requests in the thread at once. The others wait here. */
const MAX_IN_FLIGHT = 256

/** The embedded database behind messages: its statements and syncs do not block the calling thread. */
export interface DatabaseThread {
  ask<Name extends TaskName>(task: Name, input: Input<Name>, options?: AskOptions): Promise<Output<Name>>
  /** The number of syncs at the last response of the database. */
  syncCount(): number
  /** From now on, requests to a silent database are refused. If it does not recover, the process ends. */
  watchSilence(limits?: SilenceLimits): void
  /** Closes the database, if it is open, and ends the thread. */
  close(): Promise<void>
}

interface AskOptions {
  /** Ignores the bound: a transaction with the session must not wait for requests that need the session. */
  isFirst?: boolean
}

interface Asked {
  request: Request
  resolve(output: unknown): void
  reject(error: unknown): void
  /** Refused while the database was silent; it may still be executed. */
  isRefused?: boolean
}

/**
 * Starts the program in `file`, which loads in parallel; the first task must be `open`. From then on, an unexpected end of the
 * thread ends the process.
 */
export function startDatabaseThread(file: string, owner: string): DatabaseThread {
  // Without the process's `--import` and similar flags, because the thread runs another program.
  const worker = new Worker(file, { name: 'database', execArgv: [] })
  const requests = requestsOf(worker)
  let made = 0
  let syncs = 0
  let state: 'starting' | 'open' | 'ended' = 'starting'
  let failure: Error | undefined
  let silence: SilenceWatch | undefined

  const ask: DatabaseThread['ask'] = (task, input, { isFirst = false } = {}) =>
    new Promise((resolve, reject) => {
      if (state === 'ended') throw failure ?? closed()
      // The transaction with the session is not refused: it must be rolled back once the database responds again.
      if (silence?.isSilent() && !isFirst) throw new DatabaseSilentError()
      made += 1
      requests.add({ request: { id: made, task, input }, resolve: resolve as Asked['resolve'], reject }, isFirst)
    })

  worker.on('message', ({ id, output, error, syncs: counted }: Answer) => {
    syncs = counted
    silence?.heard()
    const asked = requests.take(id)
    if (asked?.request.task === 'open' && !error) state = 'open'
    if (error) asked?.reject(reviveError(error))
    else asked?.resolve(output)
    // Its caller was refused, so this transaction must be rolled back here.
    if (asked?.isRefused && asked.request.task === 'begin' && !error)
      ask('rollback', output as number, { isFirst: true }).catch(() => undefined)
  })
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error))
  })
  // Otherwise its caller would wait forever.
  worker.on('messageerror', (error) => endProcess(owner, 1, error))
  worker.on('exit', (code) => {
    if (state === 'open' || code === IO_FAILURE) endProcess(owner, code, failure)
    state = 'ended'
    requests.fail(failure ?? closed())
  })
  worker.unref()

  return {
    ask,
    syncCount: () => syncs,
    watchSilence(limits) {
      const end = (ms: number) => endSilent(owner, ms)
      const ping = () => void ask('ping', undefined, { isFirst: true }).catch(() => undefined)
      silence = watchSilence({ isAsked: requests.areSent, ping, refuse: requests.refuse, end }, limits)
    },
    async close() {
      // Ends a silent database like a crash; the next start recovers.
      if (state === 'open')
        await ask('close', undefined).catch((error: unknown) => {
          if (!silence?.isSilent()) throw error
        })
      state = 'ended'
      silence?.stop()
      // Otherwise an idle process could end first.
      worker.ref()
      await worker.terminate()
    },
  }
}

interface Requests {
  add(asked: Asked, isFirst: boolean): void
  /** The call that was answered. The next one takes its place. */
  take(id: number): Asked | undefined
  areSent(): boolean
  /** Rejects all calls. Those already sent may still be executed. */
  refuse(): void
  fail(error: Error): void
}

function requestsOf(worker: Worker): Requests {
  const sent = new Map<number, Asked>()
  const waiting: Asked[] = []
  const send = (asked: Asked) => {
    try {
      worker.postMessage(asked.request)
    } catch (error) {
      asked.reject(error)
      return
    }
    sent.set(asked.request.id, asked)
    // Pending requests keep the process alive; an idle database does not.
    if (sent.size === 1) worker.ref()
  }
  return {
    add(asked, isFirst) {
      if (isFirst || sent.size < MAX_IN_FLIGHT) send(asked)
      else waiting.push(asked)
    },
    take(id) {
      const asked = sent.get(id)
      sent.delete(id)
      const next = sent.size < MAX_IN_FLIGHT ? waiting.shift() : undefined
      if (next) send(next)
      if (sent.size === 0) worker.unref()
      return asked
    },
    areSent: () => sent.size > 0,
    refuse() {
      for (const { reject } of waiting.splice(0)) reject(new DatabaseSilentError())
      for (const asked of sent.values()) {
        asked.isRefused = true
        asked.reject(new DatabaseSilentError())
      }
    },
    fail(error) {
      for (const { reject } of [...sent.values(), ...waiting]) reject(error)
    },
  }
}

/** Unanswered calls were never acknowledged; the next start recovers. */
function endProcess(owner: string, code: number, failure: Error | undefined): never {
  const reason = failure?.stack ?? `exit code ${code}`
  // A failed write or sync has reported itself.
  if (code !== IO_FAILURE) writeSync(2, `${owner}: the embedded database exited unexpectedly: ${reason}\n`)
  process.exit(IO_FAILURE)
}

function endSilent(owner: string, ms: number): never {
  writeSync(2, `${owner}: the embedded database has not answered for ${Math.round(ms / 1000)} s: the process ends\n`)
  process.exit(IO_FAILURE)
}

function closed(): Error {
  return new Error('The embedded database is closed')
}
