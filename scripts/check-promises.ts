/**
 * Fails if a fulfilled reliability promise has no test whose title contains `promise <number>: `, or if a promise of
 * several servers has none in `packages/server/test/scaled`.
 */
import { execFileSync } from 'node:child_process'

// The fulfilled promises of docs/reliability.md. Add a number in the change that fulfills its promise.
const kept = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]

// The promises that also need proof with several servers.
const keptByServers = [4, 5, 6, 7, 12, 13, 14, 15, 17, 18]

const isKept = { 'packages/*/test/*.ts': kept, 'packages/server/test/scaled/*.ts': keptByServers }
let missing = 0
for (const [files, promises] of Object.entries(isKept)) {
  const proven = promisesIn(files)
  for (const promise of promises) {
    if (proven.has(promise)) continue
    missing += 1
    console.error(`promise ${promise} has no test in ${files}`)
  }
}
console.log(
  `promises: ${kept.length} kept, ${keptByServers.length} of them by several servers, ${missing} without a test`,
)
process.exitCode = missing === 0 ? 0 : 1

function promisesIn(files: string): Set<number> {
  const pattern = '^ *[\'"`]?.*[\'"`]promise [0-9]+: '
  const titles = execFileSync('git', ['grep', '-hoE', pattern, '--', files], { encoding: 'utf8' })
  return new Set([...titles.matchAll(/promise (\d+): /g)].map(([, number]) => Number(number)))
}
