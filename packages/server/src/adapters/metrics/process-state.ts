/** Declares the metrics whose values are read at each scrape. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from 'prom-client'

export interface ProcessState {
  activeRuns(): number
  /** Rejects while the queue is unavailable. */
  queuedRuns(): number | Promise<number>
  eventLogReaders(): number
  templatesWaiting(): number
  statementCount(): number
  /** Undefined for the embedded database, which has no pool. */
  connections(): { inUse: number; waiting: number; most: number } | undefined
  /** Absent without a limit of stored bytes. */
  storedBytes?(): number
}

export function registerProcessState(registry: Registry, state: ProcessState): void {
  const { gauge, counter } = readers(registry)
  gauge('stet_runs_active', 'Runs that this process supervises.', state.activeRuns)
  gauge('stet_runs_queued', 'Queued background runs of all servers that share the queue.', state.queuedRuns)
  gauge('stet_event_log_readers', 'Open readers of event logs in memory.', state.eventLogReaders)
  gauge('stet_template_queue_depth', 'Evaluations that wait for the evaluation thread.', state.templatesWaiting)
  counter('stet_sql_statements_total', 'SQL statements sent.', state.statementCount)
  const connections = (name: 'inUse' | 'waiting' | 'most') => () => state.connections()?.[name] ?? 0
  gauge('stet_database_connections_in_use', 'Connections of the pools in use.', connections('inUse'))
  gauge('stet_database_connections_max', 'Size of the pools; 0 without a pool.', connections('most'))
  gauge('stet_database_waiting', 'Statements and transactions that wait for a connection.', connections('waiting'))
  if (state.storedBytes)
    gauge('stet_stored_bytes', 'Stored bytes of all workspaces, as counted against their limit.', state.storedBytes)
}

/** Each tick costs about 60 µs of CPU, so an idle server spends 0.1 % of a core on it. */
const resolutionMs = 50

/** Returns a function that stops the measurement. */
export function registerProcess(registry: Registry): () => void {
  const { gauge, counter } = readers(registry)
  gauge('process_resident_memory_bytes', 'Resident memory, without child processes.', process.memoryUsage.rss)
  gauge('process_uptime_seconds', 'Seconds since the start.', process.uptime)
  counter(
    'stet_event_loop_busy_seconds_total',
    'Time that the event loop was busy.',
    () => performance.eventLoopUtilization().active / 1_000,
  )
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  // The histogram contains the time between two ticks, so an idle event loop has about `resolutionMs`.
  const lag = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolutionMs / 1_000)
  new Gauge({
    name: 'stet_event_loop_lag_seconds',
    help: 'Delay of timers since the previous scrape, by quantile.',
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      if (delay.count === 0) return
      this.set({ quantile: '0.5' }, lag(delay.percentile(50)))
      this.set({ quantile: '0.99' }, lag(delay.percentile(99)))
      this.set({ quantile: '1' }, lag(delay.max))
      delay.reset()
    },
  })
  return () => delay.disable()
}

function readers(registry: Registry) {
  const registers = [registry]
  return {
    gauge: (name: string, help: string, read: () => number | Promise<number>) =>
      new Gauge({
        ...{ name, help, registers },
        async collect() {
          try {
            this.set(await read())
          } catch {
            // A missing value must not fail the scrape, and an old one must not look current.
            this.set(Number.NaN)
          }
        },
      }),
    counter: (name: string, help: string, read: () => number) =>
      new Counter({
        ...{ name, help, registers },
        collect() {
          this.reset()
          this.inc(read())
        },
      }),
  }
}
