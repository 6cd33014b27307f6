/**
 * Follows runs of another server with readers that stop reading, and reports its memory. Started by
 * slow-readers.test.ts.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { framesOf } from '../../src/features/runs/events/watch-run.ts'
import type { RunLogReader } from '../../src/features/runs/ports.ts'
import { addFrame } from '../../src/wire/run-frames.ts'
import { activeRun, logServers, redisUrl } from './shared-logs.ts'

export interface Settings {
  prefix: string
  acceptedBytes: number
  /** Collects garbage often, so that the process is about as large as what it holds. */
  isCollecting: boolean
}

const collectEveryMs = 50

const { prefix, acceptedBytes, isCollecting } = JSON.parse(process.argv[2] ?? '') as Settings
const { servers } = await logServers({ urls: [redisUrl], prefix })
const [server] = servers
const readers: RunLogReader[] = []

function stall(runUuid: string): void {
  const reader = server?.log.followElsewhere?.(runUuid, 0, activeRun().find)
  if (!reader) throw new Error('Every run can be followed')
  const frames = framesOf(reader, addFrame)
  let taken = 0
  const read = () => {
    while (taken < acceptedBytes) {
      const part = frames.take()
      if (part.length === 0) return
      taken += part.length
    }
  }
  frames.listen(read)
  readers.push(reader)
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** The memory that is left after a full garbage collection. */
function retainedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

let peakBytes = 0
setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
}, 10)
if (isCollecting) setInterval(collect, collectEveryMs)

process.on('message', (runs: string[]) => {
  const retained = retainedBytes()
  const resident = process.memoryUsage.rss()
  process.send?.({ retained, resident, peak: Math.max(peakBytes, resident) })
  for (const runUuid of runs) stall(runUuid)
})
process.send?.('ready')
