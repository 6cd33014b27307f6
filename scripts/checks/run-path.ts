/**
 * Counts our files and functions that one warm JSON run executes, using V8's precise coverage of the server's thread.
 * The evaluator of prompts has limits of its own. The database thread, the provider and the client are not counted.
 * `--list` prints the counted functions.
 * So far it caught that provider keys lengthened the run path (eea63ae6).
 */
import inspector, { type Profiler } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTestProject, openServer } from '../../packages/server/test/http/scenario.ts'
import { fakeProvider } from '../../packages/server/test/support/fake-provider.ts'

/** In files and functions. A reader follows the run path without the evaluator. */
const parts = [
  { part: 'run path', limits: { files: 80, functions: 260 }, isIn: (file: string) => !evaluator.test(file) },
  { part: 'evaluator', limits: { files: 12, functions: 48 }, isIn: (file: string) => evaluator.test(file) },
]
const warmUps = 20
/** Counts only the functions that all of these runs execute, because the others are background work. */
const measuredRuns = 15

const root = fileURLToPath(new URL('../..', import.meta.url))
const ours = /^packages\/(server|contract|template)\/src\//
/** The run reads parameters and front matter by rules of the template package, which count as its own. */
const evaluator = /^packages\/template\/src\/(?!rendering\/|front-matter\/)/

const session = new inspector.Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

// The default mode. A PostgreSQL server adds 13 functions, of its pool and its lock.
delete process.env['STET_TEST_DATABASE_URL']
const fake = await fakeProvider()
const settings = { NODE_ENV: 'production', OPENAI_API_KEY: 'sk-check', OPENAI_BASE_URL: fake.url }
const { server, api } = await openServer(settings)
const content = '---\nprovider: openai\nmodel: gpt-6-sol\n---\nAnswer briefly.\n<user>Say hello to {{ name }}.</user>\n'
const { live } = await createTestProject(api, { hello: content })
for (let run = 0; run < warmUps; run += 1) await runOnce()
const runs: Set<string>[] = []
for (let run = 0; run < measuredRuns; run += 1) runs.push(await executedByRun())
session.disconnect()
await server.close()
await fake.close()

const [first = new Set<string>(), ...others] = runs
const functions = [...first].filter((name) => others.every((run) => run.has(name))).sort()
const files = [...new Set(functions.map(fileOf))]
if (process.argv.includes('--list')) {
  for (const file of files) {
    const names = functions.filter((name) => fileOf(name) === file).map((name) => name.slice(file.length + 1))
    console.log(`${file} (${names.length}): ${names.join(', ')}`)
  }
}
process.exitCode = parts.every(isWithinLimits) ? 0 : 1

function isWithinLimits({ part, limits, isIn }: (typeof parts)[number]): boolean {
  const counted = { files: files.filter(isIn).length, functions: functions.filter((name) => isIn(fileOf(name))).length }
  console.log(
    `${part}: ${counted.files} files, ${counted.functions} functions (limits ${limits.files} and ${limits.functions})`,
  )
  return counted.files <= limits.files && counted.functions <= limits.functions
}

async function runOnce(): Promise<void> {
  const body = { path: 'hello', parameters: { name: 'Ada' } }
  const { status, text } = await api('POST', `${live}/documents/run`, { body })
  if (status !== 200) throw new Error(`The run failed: ${status} ${text}`)
}

async function executedByRun(): Promise<Set<string>> {
  await session.post('Profiler.takePreciseCoverage')
  await runOnce()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return new Set(result.flatMap(executedIn))
}

function executedIn({ url, functions: found }: Profiler.ScriptCoverage): string[] {
  const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : ''
  if (!ours.test(file)) return []
  return found.flatMap(({ functionName, ranges: [range] }) => {
    // Skips the module itself, which starts at 0, and `__name`, which esbuild adds.
    if (!range || range.count === 0 || range.startOffset === 0 || functionName === '__name') return []
    return [`${file} ${functionName || '(arrow)'}@${range.startOffset}`]
  })
}

function fileOf(name: string): string {
  return name.slice(0, name.indexOf(' '))
}
