/**
 * Fails if a generated file does not match its source.
 * So far it caught stale references after merges (963136b4) and new settings (42c106a7).
 */
import { spawnSync } from 'node:child_process'

const checks: readonly [file: string, script: string][] = [
  ['packages/contract/samples/sdk/calls.json', 'packages/sdk/scripts/emit-samples.ts'],
  ['packages/contract/src/vocabulary', 'packages/contract/scripts/emit-vocabulary.ts'],
  ['packages/contract/openapi.json', 'packages/contract/scripts/emit-openapi.ts'],
  ['docs/errors.md', 'packages/contract/scripts/emit-errors.ts'],
  ['docs/configuration.md', 'packages/server/scripts/emit-configuration.ts'],
  ['docs/cli.md', 'packages/cli/scripts/emit-docs.ts'],
  ['docs/language.md', 'packages/server/scripts/emit-language.ts'],
  ['docs/compatibility.md', 'packages/server/scripts/emit-compatibility.ts'],
]

for (const [file, script] of checks) {
  const { status } = spawnSync('tsx', [script, '--check'], { stdio: 'inherit' })
  console.log(`${file}: ${status === 0 ? 'current' : 'STALE'}`)
  if (status !== 0) process.exitCode = 1
}
