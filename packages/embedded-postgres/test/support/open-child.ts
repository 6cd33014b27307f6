/** Opens a database, and reports a failure as a program would. Started by durability.test.ts. */
import { writeSync } from 'node:fs'
import { EmbeddedPostgresError } from '../../src/failure.ts'
import { openPglite } from '../../src/open-pglite.ts'
import { folderOf } from './database.ts'

const [directory = ''] = process.argv.slice(2)
await openPglite(folderOf(directory)).catch((error: unknown) => {
  if (!(error instanceof EmbeddedPostgresError)) throw error
  writeSync(2, `test: ${error.message}\n`)
  process.exit(1)
})
