/**
 * Fails if a fulfilled reliability promise has no test whose title contains `promise <number>: `, if a promise of
 * several servers has none in `packages/server/test/scaled`, or if the counts of docs/proof/reliability.md and the tests differ.
 * So far it caught five rows of the guide whose counts differed from the tests (ADR 70).
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

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
const differences = countDifferences()
for (const difference of differences) console.error(difference)
process.exitCode = missing + differences.length === 0 ? 0 : 1

function promisesIn(files: string): Set<number> {
  const pattern = '^ *[\'"`]?.*[\'"`]promise [0-9]+: '
  const titles = execFileSync('git', ['grep', '-hoE', pattern, '--', files], { encoding: 'utf8' })
  return new Set([...titles.matchAll(/promise (\d+): /g)].map(([, number]) => Number(number)))
}

/**
 * A row of the table of counts is: promise, files, on every change, before a release. Each of its files that calls
 * `count(ci, long)` does so with a pair of the row, and each count before a release belongs to such a call.
 */
function countDifferences(): string[] {
  const page = readFileSync('docs/proof/reliability.md', 'utf8')
  const [, table = ''] = page.split('| on every change | before a release |\n')
  const rows = table.split('\n\n')[0]?.split('\n').slice(1) ?? []
  if (rows.length < kept.length) throw new Error('docs/proof/reliability.md has no table of counts')
  return rows.flatMap((row) => {
    const [, promise = '', files = '', onChange = '', beforeRelease = ''] = row.split('|')
    const [ci, long] = [numbersIn(onChange), numbersIn(beforeRelease)]
    const paired = new Set<number>()
    const unpaired = filesIn(files).flatMap((file) => {
      const calls = countCalls(file)
      const own = calls.filter(([few, many]) => ci.includes(few) && long.includes(many))
      for (const [, many] of own) paired.add(many)
      return calls.length === 0 || own.length > 0
        ? []
        : [`${file}: count(${calls.join(') and count(')}) is not in the row`]
    })
    const unknown = long.filter((many) => !paired.has(many)).map((many) => `${many} is no count of its tests`)
    return [...unpaired, ...unknown].map(
      (problem) => `docs/proof/reliability.md, promise${promise.trimEnd()}: ${problem}`,
    )
  })
}

/** The files named in backticks, below the folder that the cell names or `packages/server/test`. */
function filesIn(cell: string): string[] {
  const names = [...cell.matchAll(/`([\w/-]+)`/g)].map(([, name = '']) => name)
  const folders = ['packages/server/test', ...names.filter((name) => name.startsWith('packages/'))]
  let folder = ''
  return names
    .filter((name) => !name.startsWith('packages/'))
    .map((name) => {
      // In a list such as `scaled/owner-failures`, `attach`, later names are in the folder of the first.
      if (name.includes('/')) folder = name.slice(0, name.lastIndexOf('/') + 1)
      const candidates = folders.flatMap((root) => [`${root}/${name}.test.ts`, `${root}/${folder}${name}.test.ts`])
      const found = candidates.find(existsSync)
      if (found === undefined) throw new Error(`docs/proof/reliability.md names ${name}, which is no test`)
      return found
    })
}

function countCalls(file: string): [ci: number, long: number][] {
  const text = readFileSync(file, 'utf8')
  const calls = [...text.matchAll(/\bcount\(([\d_]+), ([\d_]+)\)/g)]
  // Packages that do not have `counts.ts` choose by themselves.
  const choices = [...text.matchAll(/STET_TEST_LONG'\] === '1' \? ([\d_]+) : ([\d_]+)/g)].map(([, many, few]) => [
    '',
    few,
    many,
  ])
  return [...calls, ...choices].map(([, few = '', many = '']) => [numberOf(few), numberOf(many)])
}

function numbersIn(cell: string): number[] {
  return [...cell.matchAll(/\d[\d,]*/g)].map(([text]) => numberOf(text))
}

function numberOf(text: string): number {
  return Number(text.replace(/[_,]/g, ''))
}
