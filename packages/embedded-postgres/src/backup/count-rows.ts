import type { PGlite } from '@electric-sql/pglite'

export interface CountedRows {
  tables: number
  rows: number
}

/** Reads every page of every table, so that a damaged page fails here. */
export async function countRows(pglite: PGlite): Promise<CountedRows> {
  const { rows: tables } = await pglite.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  let rows = 0
  for (const { name } of tables) {
    const counted = await pglite.query<{ count: number }>(`SELECT count(*)::float8 AS count FROM ${name}`)
    rows += counted.rows[0]?.count ?? 0
  }
  return { tables: tables.length, rows }
}
