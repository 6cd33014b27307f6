/** Creates `dist/database-template.tar.gz` during the build: a migrated database, which a first start unpacks. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTemplate } from '../src/adapters/database/embedded-files.ts'

const packageRoot = fileURLToPath(new URL('..', import.meta.url))
await makeTemplate(packageRoot, join(packageRoot, 'dist', 'database-template.tar.gz'))
