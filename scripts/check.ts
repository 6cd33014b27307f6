/** `pnpm check`: runs all checks, fast ones first, and reports every failure. A failed build ends the run. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const repeatOnce = [
  '--retry=1',
  '--reporter=default',
  `--reporter=${fileURLToPath(new URL('unsteady-tests.ts', import.meta.url))}`,
]

const steps: readonly [name: string, command: string, ...args: string[]][] = [
  ['lint and format', 'biome', 'check', '--error-on-warnings', '.'],
  ['build', 'pnpm', 'run', 'build'],
  ['types', 'pnpm', 'run', 'types'],
  ['rooms', 'pnpm', 'run', 'rules'],
  ['unused code', 'pnpm', 'run', 'unused'],
  ['budgets', 'pnpm', 'run', 'budgets'],
  ['promises', 'tsx', 'scripts/check-promises.ts'],
  ['links', 'tsx', 'scripts/check-links.ts'],
  ['docs site', 'pnpm', 'run', 'docs:build'],
  ['install scripts', 'tsx', 'scripts/check-install-scripts.ts'],
  ['workflows', 'tsx', 'scripts/check-workflows.ts'],
  ['compose and chart', 'tsx', 'scripts/check-deploy.ts'],
  ['install commands', 'tsx', 'scripts/check-install-commands.ts'],
  ['run path', 'tsx', 'scripts/check-run-path.ts'],
  ['migrations', 'tsx', 'scripts/check-migrations.ts'],
  ['generated files', 'tsx', 'scripts/check-generated.ts'],
  ['drift', 'tsx', 'scripts/check-drift.ts'],
  ['tests', 'pnpm', 'test', '--', ...repeatOnce],
  ['README walk', 'tsx', 'scripts/readme-walk.ts'],
  ['container', 'tsx', 'scripts/check-container.ts'],
  ['release', 'pnpm', 'run', 'release:dry'],
]

const failed: string[] = []
for (const [name, command, ...args] of steps) {
  const startedMs = Date.now()
  console.log(`\n== ${name}`)
  const { status, signal, error } = spawnSync(command, args, { stdio: 'inherit' })
  const verdict = status === 0 ? 'ok' : `FAILED (${error?.message ?? signal ?? `exit code ${status}`})`
  console.log(`== ${name}: ${verdict} in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`)
  if (status === 0) continue
  failed.push(name)
  // Most later checks need the build's output.
  if (name === 'build') break
}

if (failed.length > 0) {
  console.error(`\n== FAILED: ${failed.join(', ')}`)
  process.exitCode = 1
}
