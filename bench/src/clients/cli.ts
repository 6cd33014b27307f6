/**
 * `pnpm bench:cli`: the CPU time to start `stet --version`, compared with Node on an empty module. CPU time depends
 * little on other load. Exit code 1 above the limit, 2 if the measurement was noisy.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeMachine } from '../subjects/machine.ts'

const limit = 1.2
const noiseLimit = 0.1
const rounds = Number(process.env['ROUNDS'] ?? 40)
const tickMs = 10
const bin = fileURLToPath(new URL('../../../packages/cli/bin/stet.mjs', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'stet-bench-cli-'))
const empty = join(folder, 'empty.mjs')
writeFileSync(empty, '')

// The control runs twice per round. The difference of its two figures is the machine's noise.
const candidates = [
  { name: 'bare node', args: [empty], cpuMs: 0, fastestMs: Number.POSITIVE_INFINITY },
  { name: 'stet --version', args: [bin, '--version'], cpuMs: 0, fastestMs: Number.POSITIVE_INFINITY },
  { name: 'bare node again', args: [empty], cpuMs: 0, fastestMs: Number.POSITIVE_INFINITY },
]
for (let round = 0; round <= rounds; round += 1) {
  for (const candidate of candidates) {
    const [startedMs, startedCpuMs] = [performance.now(), childrenCpuMs()]
    const { status } = spawnSync(process.execPath, candidate.args, { stdio: 'ignore' })
    if (status !== 0) throw new Error(`${candidate.args.join(' ')} ended with ${status}; run pnpm build first`)
    if (round === 0) continue
    candidate.cpuMs += (childrenCpuMs() - startedCpuMs) / rounds
    candidate.fastestMs = Math.min(candidate.fastestMs, performance.now() - startedMs)
  }
}
rmSync(folder, { recursive: true })

const [first = 0, stet = 0, second = 0] = candidates.map(({ cpuMs }) => cpuMs)
const bare = (first + second) / 2
const ratio = stet / bare
const noise = Math.abs(first - second) / bare
console.log(JSON.stringify({ bench: 'cli', ...describeMachine(), rounds, bareMs: bare, stetMs: stet, ratio, noise }))
console.log(`\ncli, ${rounds} interleaved starts${''.padEnd(4)}CPU     fastest`)
for (const { name, cpuMs, fastestMs } of candidates) {
  console.log(`${name.padEnd(24)}${cpuMs.toFixed(1).padStart(7)} ms${fastestMs.toFixed(1).padStart(9)} ms`)
}
console.log(`${'ratio'.padEnd(24)}${ratio.toFixed(2).padStart(7)}x  (limit ${limit}x)`)
if (noise > noiseLimit) {
  console.log(`noisy: the control's own figures differ by ${(noise * 100).toFixed(0)} %, so this proves nothing`)
  process.exitCode = 2
} else if (ratio > limit) process.exitCode = 1

// The kernel counts the times of ended children in ticks. Over many starts the rounding errors cancel out.
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) * tickMs
}
