/** A server process's resources, read from the kernel and from a probe inside the process. Linux only. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const hasProcessFigures = existsSync('/proc/self/status')

export const probeOptions = ['--expose-gc', '--import', fileURLToPath(new URL('server-probe.mjs', import.meta.url))]

export interface ProbeFigures {
  /** Measured after a full garbage collection. */
  heapUsed: number
  /** The number of handles that keep the event loop alive, by kind. */
  resources: Record<string, number>
  listeners: number
  /** Node's warnings since the start, such as those about too many listeners. */
  warnings: string[]
}

export async function probe(child: ChildProcess): Promise<ProbeFigures> {
  const answer = once(child, 'message')
  child.send('figures')
  const [figures] = (await answer) as [ProbeFigures]
  return figures
}

export async function residentBytes({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
}

/** Resident memory once V8 has optimized what the start ran: when five measurements in a row differ by less than 1 MB. */
export async function settledBytes(child: ChildProcess): Promise<number> {
  const last: number[] = []
  for (;;) {
    last.unshift(await residentBytes(child))
    last.length = Math.min(last.length, 5)
    if (last.length === 5 && Math.max(...last) - Math.min(...last) < 1_048_576) return Math.max(...last)
    await delay(500)
  }
}

/** Returns the most memory that the process has while the work runs. */
export async function peakBytesDuring(child: ChildProcess, work: () => Promise<unknown>): Promise<number> {
  let peak = await residentBytes(child)
  let isOver = false
  const watch = async () => {
    while (!isOver) {
      peak = Math.max(peak, await residentBytes(child))
      await delay(5)
    }
  }
  const watching = watch()
  await work().finally(() => {
    isOver = true
  })
  await watching
  return peak
}

/** Open descriptors by kind: `socket`, `pipe`, `anon_inode`, `file`. */
export async function descriptors({ pid }: ChildProcess): Promise<Record<string, number>> {
  const counted: Record<string, number> = {}
  for (const descriptor of await readdir(`/proc/${pid}/fd`)) {
    // A handle that was closed after the listing has no target.
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => undefined)
    if (target === undefined) continue
    const kind = /^(socket|pipe|anon_inode):/.exec(target)?.[1] ?? 'file'
    counted[kind] = (counted[kind] ?? 0) + 1
  }
  return counted
}

export async function childCount({ pid }: ChildProcess): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  // Reads the children of every thread, because a thread that ends passes its children to another thread.
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  )
  return lists
    .join(' ')
    .split(/\s+/)
    .filter((each) => each !== '').length
}
