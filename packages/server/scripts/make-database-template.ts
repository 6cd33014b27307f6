/** Creates `dist/database-template` during the build: a migrated database as plain files, which a first start copies. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTemplate } from '../src/adapters/database/embedded/embedded-files.ts'

const packageRoot = fileURLToPath(new URL('..', import.meta.url))
const target = join(packageRoot, 'dist', 'database-template')

await rm(target, { recursive: true, force: true })
await makeTemplate(packageRoot, target)
