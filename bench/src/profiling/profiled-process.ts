/** `--profile`: CPU profiles of a server's threads under load, and the kernel's CPU time per thread. */
import { existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type ThreadTime, threadTimesOf } from '../subjects/process-figures.ts'
import { readCpuProfile } from './cpu-profile.ts'
import { printProfileTables } from './profile-tables.ts'

export const isProfiling = process.argv.includes('--profile')

const preload = fileURLToPath(new URL('preload.cjs', import.meta.url))

export function profilingEnvironment(nodeOptions = ''): { folder: string; environment: Record<string, string> } {
  const folder = mkdtempSync(join(tmpdir(), 'stet-profile-'))
  return { folder, environment: { STET_BENCH_PROFILE: folder, NODE_OPTIONS: `${nodeOptions} --require ${preload}` } }
}

export async function profileWhile(pid: number, folder: string, work: () => Promise<unknown>): Promise<void> {
  const before = threadTimesOf(pid)
  process.kill(pid, 'SIGUSR2')
  await work()
  const after = threadTimesOf(pid)
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(join(folder, 'done'))) await pause(100)
  printThreadTimes(before, after)
  const files = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'))
  for (const name of files.sort().reverse()) {
    printProfileTables(`thread ${name.replace('.cpuprofile', '')}`, readCpuProfile(join(folder, name)))
    console.log(`\n  ${join(folder, name)} opens in the performance tab of Chrome's developer tools`)
  }
}

function printThreadTimes(before: readonly ThreadTime[], after: readonly ThreadTime[]): void {
  const known = new Map(before.map(({ id, cpuMs }) => [id, cpuMs]))
  const sums = new Map<string, number>()
  for (const { id, name, cpuMs } of after) {
    // The profiler's own thread does not count as server work.
    if (name.startsWith('v8:Prof')) continue
    sums.set(name, (sums.get(name) ?? 0) + cpuMs - (known.get(id) ?? 0))
  }
  const total = [...sums.values()].reduce((sum, cpuMs) => sum + cpuMs, 0)
  console.log('\nCPU by thread and child process (kernel times, in ticks of 10 ms)')
  for (const [name, cpuMs] of [...sums].sort(([, a], [, b]) => b - a))
    if (cpuMs > 0)
      console.log(`  ${((cpuMs / total) * 100).toFixed(1).padStart(6)} %  ${String(cpuMs).padStart(7)} ms  ${name}`)
}
