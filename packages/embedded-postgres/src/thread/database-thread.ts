import { writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { DatabaseSilentError, IO_FAILURE } from '../failure.ts'
import { damageOf, reviveError } from './carried-error.ts'
import type { Answer, Input, Output, Request, TaskName } from './messages.ts'
import { type SilenceLimits, type SilenceWatch, watchSilence } from './watch-silence.ts'

const MAX_IN_FLIGHT = 256

/** Runs the embedded database in a thread, so that statements and syncs do not block the caller. */
export interface DatabaseThread {
  ask<Name extends TaskName>(task: Name, input: Input<Name>, options?: AskOptions): Promise<Output<Name>>
  syncCount(): number
  /** From now on, rejects requests while the database is silent. Ends the process if the silence lasts too long. */
  watchSilence(limits?: SilenceLimits): void
  close(): Promise<void>
}

interface AskOptions {
  /**
   * Sends the request at once, even above the limit or while the database is silent. Other requests may wait for this
   * transaction's session.
   */
  isFirst?: boolean
}

interface Asked {
  request: Request
  resolve(output: unknown): void
  reject(error: unknown): void
  /** The request was rejected while the database was silent. The thread may still execute it. */
  isRefused?: boolean
}

/**
 * The first task must be `open`. After that, an unexpected exit of the thread ends the process. @param onDamage called with
 * PostgreSQL's message for each statement that failed because of damaged files.
 */
export function startDatabaseThread(
  file: string,
  owner: string,
  onDamage: (message: string) => void = () => undefined,
): DatabaseThread {
  // Drops `--import` and similar flags of the process, because the thread runs another program.
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
      // The transaction that owns the session is exempt: it must roll back once the database responds again.
      if (silence?.isSilent() && !isFirst) throw new DatabaseSilentError()
      made += 1
      requests.add({ request: { id: made, task, input }, resolve: resolve as Asked['resolve'], reject }, isFirst)
    })

  worker.on('message', ({ id, output, error, syncs: counted }: Answer) => {
    syncs = counted
    silence?.heard()
    const asked = requests.take(id)
    if (asked?.request.task === 'open' && !error) state = 'open'
    const damage = error && damageOf(error)
    if (damage !== undefined) onDamage(damage)
    if (error) asked?.reject(reviveError(error))
    else asked?.resolve(output)
    // The caller of `begin` was already rejected, so the transaction is rolled back here.
    if (asked?.isRefused && asked.request.task === 'begin' && !error)
      ask('rollback', output as number, { isFirst: true }).catch(() => undefined)
  })
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error))
  })
  // A message that cannot be deserialized answers no request, so its caller would wait forever.
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
      // A silent database cannot close. It is terminated, and the next start runs crash recovery.
      if (state === 'open')
        await ask('close', undefined).catch((error: unknown) => {
          if (!silence?.isSilent()) throw error
        })
      state = 'ended'
      silence?.stop()
      // Without `ref`, an idle process could exit first.
      worker.ref()
      await worker.terminate()
    },
  }
}

interface Requests {
  add(asked: Asked, isFirst: boolean): void
  take(id: number): Asked | undefined
  areSent(): boolean
  /** Rejects all requests. The thread may still execute those already sent. */
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
    // Pending requests keep the process alive, but an idle database does not.
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

/** Pending requests were never acknowledged, and the next start runs crash recovery. */
function endProcess(owner: string, code: number, failure: Error | undefined): never {
  const reason = failure?.stack ?? `exit code ${code}`
  // With this code, the thread has already reported the failure.
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
