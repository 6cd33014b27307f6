/** `release/long.json`: which shards of `pnpm test:long` have passed on one commit. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { shardNames } from './shards.ts'

const folder = 'release'
const resultFile = `${folder}/long.json`

export interface ShardResult {
  isPassed: boolean
  minutes: number
  files: number
  passed: number
  failed: number
  skipped: number
}

interface LongResults {
  commit: string
  shards: Record<string, ShardResult>
}

/** The commit of the checkout. One with changes is no commit that could be released. */
export function currentCommit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  return git('rev-parse', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '-changed')
}

/** Adds results to those of the same commit. Results of another commit are replaced. */
export function addResults(commit: string, shards: Record<string, ShardResult>): void {
  const before = existsSync(resultFile) ? read(resultFile) : undefined
  const kept = before?.commit === commit ? before.shards : {}
  const merged = Object.entries({ ...kept, ...shards }).sort(
    ([a], [b]) => shardNames.indexOf(a) - shardNames.indexOf(b),
  )
  mkdirSync(folder, { recursive: true })
  writeFileSync(resultFile, `${JSON.stringify({ commit, shards: Object.fromEntries(merged) }, null, 2)}\n`)
}

/** Merges the files of shards that ran on different machines. */
export function mergeResults(files: readonly string[]): void {
  for (const { commit, shards } of files.map(read)) addResults(commit, shards)
}

/** Returns what a release of this commit lacks. */
export function lackingFor(commit: string): string[] {
  if (!existsSync(resultFile)) return [`there is no ${resultFile}`]
  const { commit: tested, shards } = read(resultFile)
  if (tested !== commit) return [`${resultFile} is of ${tested}, and this is ${commit}`]
  return shardNames
    .filter((name) => shards[name]?.isPassed !== true)
    .map((name) => `shard ${name} ${shards[name] ? 'failed' : 'did not run'}`)
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as LongResults
