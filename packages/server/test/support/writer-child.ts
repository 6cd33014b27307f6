/** Writes rows until it is killed, and records each acknowledged row in a ledger. Started by process-kill.test.ts. */
import { appendFileSync } from 'node:fs'
import type { OwnedRow, RowKind } from '../../src/adapters/database/write-batch.ts'
import { openTestDatabase } from './database-open.ts'

interface Row extends OwnedRow {
  id: number
  name: string
}

const insertWorkspace: RowKind<Row> = {
  name: 'insert workspace',
  order: 1,
  key: (row) => String(row.id),
  statement: (rows) => ({
    sql: 'INSERT INTO workspace (id, name) SELECT * FROM unnest($1::int[], $2::text[])',
    params: [rows.map((row) => row.id), rows.map((row) => row.name)],
  }),
}

const { ledger, first, ...target } = JSON.parse(process.argv[2] ?? '') as {
  ledger: string
  first: number
  dataDir: string
  databaseUrl?: string
}
const database = await openTestDatabase(target)

/** Half of the rows use the write batch, the other half separate transactions. The ids of two lanes never collide. */
async function writeFrom(start: number, lanes: number): Promise<never> {
  for (let id = start; ; id += lanes) {
    const row = { id, name: `row ${id}` }
    if (id % 2 === 0) await database.writeBatch.write(insertWorkspace, { workspaceId: id, ...row })
    else await database.transaction((client) => client.workspace.create({ data: row }))
    appendFileSync(ledger, `${id}\n`)
  }
}

await Promise.all([0, 1, 2, 3].map((lane) => writeFrom(first + lane, 4)))
