/**
 * Fails if a test suite that `pnpm check` skips while its inputs are unchanged (scripts/passed-inputs.ts) reads a file of
 * the repository that is not among them. Suites whose inputs are only what they are about are left out: those of
 * `ownRuns` in scripts/test.ts, and `server-database`. Fails, too, if a page with executed blocks is no input of the walk.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { inputFiles, type Skippable } from '../passed-inputs.ts'

const tracked = new Set(execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n'))
// It counts what the tests start, whatever they find.
tracked.delete('scripts/tally.ts')
const testFolders: Partial<Record<Skippable, string>> = {
  cli: 'packages/cli/test/',
  console: 'packages/console/',
  'embedded-postgres': 'packages/embedded-postgres/test/',
  sdk: 'packages/sdk/test/',
  'server-clients': 'packages/server/test/clients/',
  template: 'packages/template/test/',
}

const problems = Object.entries(testFolders).flatMap(([name, folder]) => {
  const inputs = inputFiles(name as Skippable)
  const known = new Set(inputs)
  const isTest = (file: string) => file.startsWith(folder) && /\.test\.tsx?$/.test(file)
  const reached = reachedFrom(inputs.filter((file) => isTest(file) || isTsconfig(file)))
  return [...reached].filter((file) => !known.has(file)).map((file) => `${name}: ${file} is not among its inputs`)
})
const walked = new Set(inputFiles('README walk'))
for (const page of tracked) {
  const hasBlocks = /^(docs\/.*|README)\.md$/.test(page) && readFileSync(page, 'utf8').includes('<!-- walk: ')
  if (hasBlocks && !walked.has(page)) problems.push(`README walk: ${page} is not among its inputs`)
}
for (const problem of problems) console.error(problem)
console.log(`suite inputs: ${Object.keys(testFolders).length} suites, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

function reachedFrom(files: readonly string[]): Set<string> {
  const followed = new Set(files)
  const read = new Set<string>()
  for (const file of followed) {
    const { single, inFolders } = namedIn(file)
    for (const next of single) followed.add(next)
    for (const next of inFolders) read.add(next)
  }
  return new Set([...followed, ...read])
}

interface Named {
  /** These name others in turn. */
  single: string[]
  /** These are only read, whatever they name. */
  inFolders: string[]
}

/** The tracked files that a file names in quotes, themselves or by their folder. A path is relative or begins at the root. */
function namedIn(file: string): Named {
  if (isTsconfig(file)) return { single: extendedBy(file), inFolders: [] }
  if (!/\.[cm]?tsx?$/.test(file)) return { single: [], inFolders: [] }
  // Types are erased.
  const text = readFileSync(file, 'utf8').replace(/^(import|export) type [^'"]*from '[^']+'/gm, '')
  const relative = [...text.matchAll(/['"`](\.\.?\/[^'"`\s]*)['"`]/g)].map(([, path = '']) => join(dirname(file), path))
  const atRoot = [...text.matchAll(/['"`](?:\$\{root\}\/?)?([\w-][\w.-]*\/[^'"`\s]*)['"`]/g)].map(
    ([, path = '']) => path,
  )
  const paths = [...relative, ...atRoot].map((path) => normalize(path).replace(/\/$/, ''))
  // A package is built from all of its sources.
  const packages = [...text.matchAll(/from '@stet\/([a-z-]+)/g)].map(([, name = '']) => `packages/${name}/src`)
  const sources = packages.flatMap(filesIn).filter((path) => !path.includes('.test.'))
  // The root, its folders and the packages are where longer paths begin.
  const folders = paths.filter((path) => !/^(packages\/)?[^/]+$/.test(path))
  return { single: [...paths.filter((path) => tracked.has(path)), ...sources], inFolders: folders.flatMap(filesIn) }
}

function filesIn(folder: string): string[] {
  return [...tracked].filter((path) => path.startsWith(`${folder}/`))
}

function isTsconfig(file: string): boolean {
  return /\/tsconfig[^/]*\.json$/.test(file)
}

function extendedBy(file: string): string[] {
  const [, base] = /"extends":\s*"([^"]+)"/.exec(readFileSync(file, 'utf8')) ?? []
  return base === undefined ? [] : [normalize(join(dirname(file), base))]
}
