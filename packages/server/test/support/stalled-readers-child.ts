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
  /** Collects garbage often, and measures what is left. Otherwise the size of the process is measured. */
  isCollecting: boolean
}

const collectEveryMs = 50
/** On a busy machine, much data passes through between two collections by time. */
const collectEveryBytes = 4_000_000

const { prefix, acceptedBytes, isCollecting } = JSON.parse(process.argv[2] ?? '') as Settings
const { servers } = await logServers({ urls: [redisUrl], prefix })
const [server] = servers
const readers: RunLogReader[] = []
let takenSinceCollection = 0

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
      takenSinceCollection += part.length
      if (!isCollecting || takenSinceCollection < collectEveryBytes) continue
      takenSinceCollection = 0
      note(retainedBytes())
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

const note = (bytes: number) => {
  peakBytes = Math.max(peakBytes, bytes)
}
let peakBytes = 0
// The process keeps memory that it no longer needs, and how much depends on how busy the machine is.
if (isCollecting) setInterval(() => note(retainedBytes()), collectEveryMs)
else setInterval(() => note(process.memoryUsage.rss()), 10)

process.on('message', (runs: string[]) => {
  const retained = retainedBytes()
  const now = isCollecting ? retained : process.memoryUsage.rss()
  process.send?.({ retained, now, peak: Math.max(peakBytes, now) })
  for (const runUuid of runs) stall(runUuid)
})
process.send?.('ready')
