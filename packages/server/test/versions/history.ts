/** Records what concurrent callers of one register saw, and checks whether one order explains all of it. */

interface Operation {
  kind: 'read' | 'write'
  value: string
  startedAt: number
  endedAt: number
}

export interface History {
  write(value: string, work: () => Promise<unknown>): Promise<void>
  read(work: () => Promise<string>): Promise<void>
  /** Describes the contradictions that no order explains. Empty for a valid history. */
  violations(): string[]
}

/** Every written value must be unique. Failed operations must have no effect and are not recorded. */
export function recordHistory(initial: string): History {
  let time = 0
  const operations: Operation[] = [{ kind: 'write', value: initial, startedAt: -1, endedAt: 0 }]
  const tick = () => {
    time += 1
    return time
  }
  const record = async (kind: Operation['kind'], work: () => Promise<string>) => {
    const startedAt = tick()
    const value = await work()
    operations.push({ kind, value, startedAt, endedAt: tick() })
  }
  return {
    write: (value, work) =>
      record('write', async () => {
        await work()
        return value
      }),
    read: (work) => record('read', work),
    violations() {
      const writes = operations.filter(({ kind }) => kind === 'write')
      const reads = operations.filter(({ kind }) => kind === 'read')
      const sources = new Map(writes.map((write) => [write.value, write]))
      return reads.flatMap((read) => explain(read, { sources, writes, reads }))
    },
  }
}

interface Recorded {
  /** The writes by their values. Searching them for each pair of reads would take minutes for 10,000 operations. */
  sources: ReadonlyMap<string, Operation>
  writes: readonly Operation[]
  reads: readonly Operation[]
}

function explain(read: Operation, { sources, writes, reads }: Recorded): string[] {
  const source = sources.get(read.value)
  if (!source) return [`read ${read.value}, which nobody was told to have written`]
  if (source.startedAt > read.endedAt) return [`read ${read.value} before it was written`]
  const between = writes.find((write) => write.startedAt > source.endedAt && write.endedAt < read.startedAt)
  if (between) return [`read ${read.value} after ${between.value} had replaced it`]
  // Two sequential reads must not see two sequential writes in reverse order.
  const earlier = reads.find(
    (other) => other.endedAt < read.startedAt && (sources.get(other.value)?.startedAt ?? -1) > source.endedAt,
  )
  return earlier ? [`read ${read.value} after an earlier read had seen ${earlier.value}`] : []
}
