/**
 * Skips a step or a test suite of the check while its inputs equal those of its last pass. The hashes are in the
 * repository, so that CI skips what the author of a change has run (ADR 70). `pnpm test:long` and a release run everything.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const record = 'scripts/passed-inputs.json'

const packageFiles = [
  'package.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'packages/*/package.json',
  'packages/*/tsdown*.config.ts',
  'packages/*/scripts',
  'scripts/build',
  'scripts/release',
  'scripts/supported-nodes.ts',
]

const projectFeatures = ['documents', 'projects', 'releases', 'versions'].map(
  (name) => `packages/server/src/features/${name}`,
)

/** All that a server is built from, and what starts and calls one in a test. */
const wholeServer = [
  'pnpm-lock.yaml',
  'packages/*/package.json',
  'packages/*/tsdown*.config.ts',
  'packages/contract',
  'packages/embedded-postgres/src',
  'packages/embedded-postgres/test/support',
  'packages/server/bin',
  'packages/server/prisma',
  'packages/server/reference',
  'packages/server/scripts',
  'packages/server/src',
  'packages/server/test/http/api-call.ts',
  'packages/server/test/http/contract-routes.ts',
  'packages/server/test/http/declared-answers.ts',
  'packages/server/test/http/scenario.ts',
  'packages/server/test/http/shared-server.ts',
  'packages/server/test/runs/run-bench.ts',
  'packages/server/test/runs/run-calls.ts',
  'packages/server/test/support',
  'packages/template/src',
  'scripts/build',
  'tsconfig.base.json',
]

/** The inputs of each step and of the suites of scripts/test.ts, as `git ls-files` takes them. */
const inputsOf = {
  'embedded-postgres': ['pnpm-lock.yaml', 'packages/embedded-postgres', 'tsconfig.base.json'],
  template: ['pnpm-lock.yaml', 'packages/server/test/corpus', 'packages/template', 'tsconfig.base.json'],
  sdk: [
    'pnpm-lock.yaml',
    'README.md',
    'docs/evaluations.md',
    'docs/sdk',
    'packages/contract',
    'packages/sdk',
    'packages/server/test/corpus',
    'packages/template',
    'packages/*/tsdown*.config.ts',
    'scripts/build',
    'scripts/supported-nodes.ts',
    'tsconfig.base.json',
  ],
  cli: [
    ...wholeServer,
    'action',
    'docs/evals.md',
    'packages/cli',
    ':!packages/cli/test/project-archive.test.ts',
    'packages/sdk/src',
  ],
  console: [
    ...wholeServer,
    'packages/cli/bin',
    'packages/cli/src',
    'packages/console',
    'packages/sdk/src',
    'packages/sdk/test/browser/chromium.ts',
  ],
  // Published clients on the embedded database, and the examples of the documentation.
  'server-clients': [
    ...wholeServer,
    'README.md',
    'docs/sdk',
    'examples/prompts',
    'packages/cli/bin',
    'packages/cli/src',
    'packages/sdk',
    'packages/server/test/clients',
    'packages/server/vitest.config.ts',
    'scripts/supported-nodes.ts',
  ],
  // The database's files, damage, backups, outages and migrations. The stores have tests of their own.
  'server-database': [
    'pnpm-lock.yaml',
    'packages/embedded-postgres',
    'packages/server/prisma',
    'packages/server/scripts',
    'packages/server/src/adapters/database',
    ':!packages/server/src/adapters/database/stores',
    'packages/server/src/data-files.ts',
    'packages/server/src/lifecycle.ts',
    'packages/server/src/main.ts',
    'packages/server/src/operator-commands.ts',
    'packages/server/test/database',
    'packages/server/test/support',
  ],
  'cli-archive': [
    'pnpm-lock.yaml',
    'packages/cli/src/commands/examples/rows/send-rows.ts',
    'packages/cli/src/commands/projects',
    'packages/cli/src/ui/interruption.ts',
    'packages/cli/test/project-archive.test.ts',
    'packages/cli/test/support',
    ...projectFeatures,
    'packages/server/src/features/evaluations',
    'packages/server/src/features/examples',
  ],
  'console-rare': [
    'pnpm-lock.yaml',
    'packages/console',
    'packages/sdk/src',
    ...projectFeatures,
    'packages/server/src/features/access',
    'packages/server/src/features/sessions',
    'packages/server/src/http/auth',
    'packages/server/src/http/routes/console.ts',
  ],
  'docs site': ['pnpm-lock.yaml', 'docs', '*.md'],
  container: [...packageFiles, 'deploy', 'scripts/checks/container', 'scripts/checks/container.ts'],
  release: [...packageFiles, 'LICENSE', 'packages/*/README.md', 'packages/*/bin', 'packages/*/skills'],
  'README walk': [
    'package.json',
    'pnpm-lock.yaml',
    'README.md',
    ...['ci', 'evals', 'mcp', 'moving', 'self-hosting'].map((page) => `docs/${page}.md`),
    'docs/sdk/README.md',
    'docs/start',
    'examples',
    'packages/cli/src',
    'packages/sdk/src',
    'scripts/checks/readme-walk.ts',
    'scripts/start.mjs',
    'scripts/walk',
  ],
}

export type Skippable = keyof typeof inputsOf

export const isSkippable = (name: string): name is Skippable => Object.hasOwn(inputsOf, name)

/** The files that are there, in the order of their names. */
export function inputFiles(name: Skippable): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...inputsOf[name]]
  const files = execFileSync('git', args, { encoding: 'utf8' }).split('\0').filter(existsSync)
  return [...new Set(files)].sort()
}

export function inputsHash(name: Skippable): string {
  const hash = createHash('sha256')
  for (const file of inputFiles(name)) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

export const hasPassed = (name: Skippable, hash: string): boolean => read()[name] === hash

/** Returns whether the record has changed. It is committed with the change. */
export function recordPass(name: Skippable, hash: string): boolean {
  const passed = read()
  if (passed[name] === hash) return false
  writeFileSync(record, `${JSON.stringify({ ...passed, [name]: hash }, Object.keys(inputsOf).sort(), 2)}\n`)
  return true
}

function read(): Partial<Record<string, string>> {
  return existsSync(record) ? (JSON.parse(readFileSync(record, 'utf8')) as Partial<Record<string, string>>) : {}
}
