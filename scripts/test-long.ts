/**
 * `pnpm test:long [--shard <name>]…`: all tests with the release counts of `packages/server/test/support/counts.ts`, in shards
 * that may run at different times. `release/long.json` collects their results; a release requires all of them (ADR 70).
 * `--list` prints the names, `--merge <files>` joins results of several machines, `--verify` fails unless all have passed.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative, sep } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { addResults, currentCommit, lackingFor, mergeResults, type ShardResult } from './long/results.ts'
import { type ListedFile, shardMinutes, shardNames, shardOf, stepsShard } from './long/shards.ts'
import { missingForRelease } from './test/machine.ts'
import { packages, runPackage } from './test/run-package.ts'
import { printSummary, totalsOf } from './test/summary.ts'

const steps: readonly (readonly [command: string, ...args: string[]])[] = [
  ['pnpm', 'run', 'docs:build'],
  ['tsx', 'scripts/checks/readme-walk.ts'],
  ['tsx', 'scripts/checks/container.ts'],
  ['tsx', 'scripts/release/dry-run.ts'],
]
const env = { STET_TEST_LONG: '1' }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shard: { type: 'string', multiple: true, default: [...shardNames] },
    list: { type: 'boolean' },
    merge: { type: 'boolean' },
    verify: { type: 'boolean' },
  },
})

if (values.list) console.log(JSON.stringify(shardNames))
else if (values.merge) mergeResults(positionals)
else if (!values.verify) process.exitCode = (await runShards(values.shard)) ? 0 : 1
if (values.verify) {
  const lacking = lackingFor(currentCommit())
  for (const each of lacking) console.error(`test:long: ${each}`)
  if (lacking.length > 0) process.exitCode = 1
}

async function runShards(names: readonly string[]): Promise<boolean> {
  const unknown = names.filter((name) => !shardNames.includes(name))
  if (unknown.length > 0) throw new Error(`No such shard: ${unknown}. There are ${shardNames.join(', ')}`)
  const missing = await missingForRelease()
  for (const { what, advice } of missing) console.error(`test:long needs ${what}: ${advice}`)
  if (missing.length > 0) return false
  await exec('node', ['scripts/turbo.mjs', 'run', 'build'])
  const commit = currentCommit()
  const files = names.some((name) => name !== stepsShard) ? (await Promise.all(packages.map(list))).flat() : []
  let isPassed = true
  for (const name of names) {
    console.log(`\n== shard ${name}`)
    const result = await runShard(name, files)
    const isInTime = result.minutes <= shardMinutes
    console.log(`== shard ${name}: ${result.isPassed ? 'passed' : 'FAILED'} in ${result.minutes} minutes`)
    if (!isInTime) console.error(`A shard may take ${shardMinutes} minutes: divide it in scripts/long/shards.ts.`)
    addResults(commit, { [name]: { ...result, isPassed: result.isPassed && isInTime } })
    isPassed &&= result.isPassed && isInTime
  }
  return isPassed
}

async function runShard(name: string, files: readonly ListedFile[]): Promise<ShardResult> {
  const startedMs = Date.now()
  const minutes = () => Math.round((Date.now() - startedMs) / 6_000) / 10
  if (name === stepsShard) {
    let failed = 0
    for (const [command, ...args] of steps) {
      const [code] = (await once(spawn(command, args, { stdio: 'inherit' }), 'close')) as [number | null]
      if (code !== 0) failed += 1
    }
    const passed = steps.length - failed
    return { isPassed: failed === 0, minutes: minutes(), files: 0, passed, failed, skipped: 0 }
  }
  const own = files.filter((file) => shardOf(file) === name)
  const runs = []
  for (const each of new Set(own.map((file) => file.package))) {
    const ofPackage = own.filter((file) => file.package === each)
    // The files of a shard may be in several projects, and some of them in only one.
    for (const project of new Set(ofPackage.map((file) => file.project))) {
      const paths = ofPackage.filter((file) => file.project === project).map(({ file }) => file)
      const filter = project === '' ? [] : ['--project', project]
      runs.push(await runPackage(each, [...filter, ...paths], env))
    }
  }
  printSummary(runs)
  const reports = runs.flatMap((run) => run.files)
  const isComplete = reports.length >= own.length && own.length > 0
  if (!isComplete) console.error(`${reports.length} of ${own.length} files ran`)
  const isPassed = isComplete && runs.every(({ exitCode, isWhole }) => exitCode === 0 && isWhole)
  return { isPassed, minutes: minutes(), files: reports.length, ...totalsOf(reports) }
}

/** Lists the files of a package by project, as Vitest sees them with the large counts. */
async function list(name: string): Promise<ListedFile[]> {
  const cwd = `packages/${name}`
  const output = await exec('vitest', ['list', '--filesOnly', '--json'], { cwd, env: { ...process.env, ...env } })
  // Configurations print notices before the list.
  const json = JSON.parse(output.slice(output.search(/^\[/m))) as { file: string; projectName?: string }[]
  return json.map(({ file, projectName = '' }) => {
    return { package: name, project: projectName, file: relative(cwd, file).split(sep).join('/') }
  })
}

async function exec(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const { stdout } = await promisify(execFile)(command, args, { ...options, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}
