/** The thread for work that is too long for the server's own. It starts when it is first needed. */
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { Job, JobReply } from './jobs.ts'

/** How an evaluation in the thread ended. `starved`: the machine was too busy to give the thread its time. */
export type ThreadOutcome = { kind: 'reply'; reply: JobReply } | { kind: 'died' | 'timeout' | 'starved' }

export interface EvaluationThread {
  /** Call it again only when the promise has settled. */
  run(job: Job): Promise<ThreadOutcome>
  close(): Promise<void>
}

interface ThreadOptions {
  file: string
  /** The CPU time of one job, in ms. */
  timeoutMs: number
}

/** Much more than a permitted evaluation needs. If it is exceeded, the thread ends, and the server continues. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }
const idleMs = 60_000
/** The longest wait for the CPU time of a job, in multiples of `timeoutMs`. */
const maxWaitFactor = 10
const looksPerTimeout = 4

interface Started {
  worker: Worker
  /** Resolves to false if the thread ends first. */
  isReady: Promise<boolean>
}

export function createThread({ file, timeoutMs }: ThreadOptions): EvaluationThread {
  let started: Started | undefined
  let idleTimer: NodeJS.Timeout | undefined

  const end = async (): Promise<void> => {
    const ended = started
    started = undefined
    await ended?.worker.terminate()
  }
  const current = (): Started => {
    if (started) return started
    const begun = startThread(file)
    begun.worker.once('exit', () => {
      if (started === begun) started = undefined
    })
    started = begun
    return begun
  }
  return {
    async run(job) {
      clearTimeout(idleTimer)
      const { worker, isReady } = current()
      // The start of the thread is not charged to the job.
      const outcome: ThreadOutcome = (await isReady) ? await outcomeOf(worker, job, timeoutMs) : { kind: 'died' }
      if (outcome.kind !== 'reply') await end()
      idleTimer = setTimeout(end, idleMs)
      idleTimer.unref()
      return outcome
    },
    async close() {
      clearTimeout(idleTimer)
      await end()
    },
  }
}

function startThread(file: string): Started {
  const worker = new Worker(file, { resourceLimits, env: {} })
  // A thread must not keep the process alive.
  worker.unref()
  // An error is followed by the exit.
  worker.on('error', () => undefined)
  const isReady = new Promise<boolean>((resolve) => {
    worker.once('message', () => resolve(true))
    worker.once('exit', () => resolve(false))
  })
  return { worker, isReady }
}

function outcomeOf(worker: Worker, job: Job, timeoutMs: number): Promise<ThreadOutcome> {
  return new Promise((resolve) => {
    const settle = (outcome: ThreadOutcome): void => {
      stopClock()
      worker.off('message', answered)
      worker.off('exit', died)
      resolve(outcome)
    }
    const answered = (reply: JobReply): void => settle({ kind: 'reply', reply })
    const died = (): void => settle({ kind: 'died' })
    const stopClock = startClock(worker, timeoutMs, (kind) => settle({ kind }))
    worker.on('message', answered)
    worker.on('exit', died)
    worker.postMessage(job)
  })
}

/** Counts the CPU time of the thread, where Node.js reports it, or the time in which the thread was busy. */
function startClock(worker: Worker, timeoutMs: number, onEnd: (kind: 'timeout' | 'starved') => void): () => void {
  // A thread that is still starting has no figure.
  const before = busyMsOf(worker).catch(() => 0)
  let looks = 0
  let isStopped = false
  const look = async (): Promise<void> => {
    looks += 1
    if (looks > maxWaitFactor * looksPerTimeout) return onEnd('starved')
    const busyMs = (await busyMsOf(worker)) - (await before)
    if (!isStopped && busyMs >= timeoutMs) onEnd('timeout')
  }
  const timer = setInterval(() => void look().catch(() => undefined), timeoutMs / looksPerTimeout)
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}

interface MeasuredWorker {
  /** Since Node.js 24.6. */
  cpuUsage?(): Promise<{ user: number; system: number }>
}

async function busyMsOf(worker: Worker & MeasuredWorker): Promise<number> {
  if (!worker.cpuUsage) return worker.performance.eventLoopUtilization().active
  const { user, system } = await worker.cpuUsage()
  return (user + system) / 1000
}

const windowMs = 60_000

/**
 * Records evaluations that ended the evaluation thread. `text` identifies the workspace and
 * the text. `cause` identifies the input.
 */
export function createDeathRecord(now = () => performance.now()) {
  // Holds the times of the last two deaths for each text and cause, and an empty list for each text.
  const deaths = new LRUCache<string, number[]>({ max: 20_000 })
  return {
    note(text: string, cause: string): void {
      const key = `${text} ${cause}`
      deaths.set(text, [])
      deaths.set(key, [...(deaths.get(key) ?? []), now()].slice(-2))
    },
    /** @param cause called only for a recorded text, because hashing the input may be expensive. */
    isRefused(text: string, cause: () => string): boolean {
      if (!deaths.has(text)) return false
      const [first, second] = deaths.get(`${text} ${cause()}`) ?? []
      if (first === undefined || second === undefined) return false
      return second - first < windowMs && now() - second < windowMs
    },
  }
}
