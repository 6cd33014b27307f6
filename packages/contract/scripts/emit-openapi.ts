import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { renderDocument } from './openapi-document.ts'

const target = new URL('../openapi.json', import.meta.url)
const rendered = renderDocument()

if (!process.argv.includes('--check')) {
  writeFileSync(target, rendered)
} else if (!existsSync(target) || readFileSync(target, 'utf8') !== rendered) {
  console.error('openapi.json is not what the contract says: run `pnpm --filter @stet/contract openapi`')
  process.exitCode = 1
}
