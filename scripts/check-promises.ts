/** Fails if a fulfilled reliability promise has no test whose title contains `promise <number>: `. */
import { execFileSync } from 'node:child_process'

// The fulfilled promises of docs/reliability.md. Add a number in the change that fulfills its promise.
const kept = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 19, 20]

const titles = execFileSync(
  'git',
  ['grep', '-hoE', '^ *[\'"`]?.*[\'"`]promise [0-9]+: ', '--', 'packages/*/test/*.ts'],
  {
    encoding: 'utf8',
  },
)
const named = new Set([...titles.matchAll(/promise (\d+): /g)].map(([, number]) => Number(number)))
const missing = kept.filter((promise) => !named.has(promise))
for (const promise of missing) console.error(`promise ${promise} has no test`)
console.log(`promises: ${kept.length} kept, ${missing.length} without a test`)
process.exitCode = missing.length === 0 ? 0 : 1
