/**
 * Skips a step of the check while its inputs equal those of its last pass. The hashes are in the repository, so that CI
 * skips what the author of a change has run (ADR 70). `pnpm test:long` and a release run every step.
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

/** The inputs of each step, as `git ls-files` takes them. */
const inputsOf = {
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

export type SkippedStep = keyof typeof inputsOf

export const isSkippable = (step: string): step is SkippedStep => Object.hasOwn(inputsOf, step)

export function inputsHash(step: SkippedStep): string {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...inputsOf[step]]
  const files = execFileSync('git', args, { encoding: 'utf8' }).split('\0').filter(existsSync)
  const hash = createHash('sha256')
  for (const file of [...new Set(files)].sort()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

export const hasPassed = (step: SkippedStep, hash: string): boolean => read()[step] === hash

/** Returns whether the record has changed. It is committed with the change. */
export function recordPass(step: SkippedStep, hash: string): boolean {
  const passed = read()
  if (passed[step] === hash) return false
  writeFileSync(record, `${JSON.stringify({ ...passed, [step]: hash }, Object.keys(inputsOf).sort(), 2)}\n`)
  return true
}

function read(): Partial<Record<string, string>> {
  return existsSync(record) ? (JSON.parse(readFileSync(record, 'utf8')) as Partial<Record<string, string>>) : {}
}
