import { inflateRawSync } from 'node:zlib'
import type { TestServer } from './test-server.ts'

/**
 * Returns the tables with a row that contains the text. Adds `event log` if a decompressed event log contains the text.
 */
export async function tablesHolding({ database: { session } }: TestServer, text: string): Promise<string[]> {
  const { rows: tables } = await session.query(
    "SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
  )
  const holding: string[] = []
  for (const name of tables.map((row) => String(row['name']))) {
    const { rows } = await session.query(`SELECT 1 FROM "${name}" t WHERE strpos(t::text, $1) > 0 LIMIT 1`, [text])
    if (rows.length > 0) holding.push(name)
  }
  const { rows: logs } = await session.query('SELECT event_log AS log FROM run WHERE event_log IS NOT NULL')
  if (logs.some(({ log }) => unpacked(Buffer.from(log as Uint8Array)).includes(text))) holding.push('event log')
  return holding
}

/** The first byte identifies the compression (see `wire/event-log-format.ts`). */
function unpacked(log: Buffer): string {
  return log[0] === 3 ? inflateRawSync(log.subarray(1)).toString('utf8') : log.toString('utf8')
}
