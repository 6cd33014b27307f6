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

/** The inputs of each step and of the suites of scripts/test.ts, as `git ls-files` takes them. */
const inputsOf = {
  'embedded-postgres': ['pnpm-lock.yaml', 'packages/embedded-postgres'],
  template: ['pnpm-lock.yaml', 'packages/template'],
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
  'docs site': ['pnpm-lock.yaml', 'docs', '*.md'],
  container: [...packageFiles, 'deploy', 'scripts/checks/container', 'scripts/checks/container.ts'],
  release: [...packageFiles, 'LICENSE', 'packages/*/README.md', 'packages/*/bin'],
  'README walk': [
    'package.json',
    'pnpm-lock.yaml',
    'README.md',
    'docs/*.md',
    'docs/sdk',
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

export function inputsHash(name: Skippable): string {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...inputsOf[name]]
  const files = execFileSync('git', args, { encoding: 'utf8' }).split('\0').filter(existsSync)
  const hash = createHash('sha256')
  for (const file of [...new Set(files)].sort()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
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
