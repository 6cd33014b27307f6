/** `pnpm check`: everything that must hold for a change, in the order of the cheapest first. */
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
  ['install scripts', 'tsx', 'scripts/check-install-scripts.ts'],
  ['generated files', 'tsx', 'scripts/check-generated.ts'],
  ['tests', 'pnpm', 'test', '--', ...repeatOnce],
  ['README walk', 'tsx', 'scripts/readme-walk.ts'],
]

for (const [name, command, ...args] of steps) {
  const startedMs = Date.now()
  console.log(`\n== ${name}`)
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  console.log(`== ${name}: ${status === 0 ? 'ok' : 'FAILED'} in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`)
  if (status !== 0) process.exit(1)
}
