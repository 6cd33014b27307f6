/** Writes docs/errors.md from the table of causes. With `--check`, fails if the file differs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { errorsPage } from '../src/errors-page.ts'

const target = new URL('../../../docs/errors.md', import.meta.url)
const rendered = errorsPage()

if (!process.argv.includes('--check')) {
  writeFileSync(target, rendered)
} else if (!existsSync(target) || readFileSync(target, 'utf8') !== rendered) {
  console.error('docs/errors.md is outdated: run `pnpm --filter @stet/contract errors`')
  process.exitCode = 1
}
