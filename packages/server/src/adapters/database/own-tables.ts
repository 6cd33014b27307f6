import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import { OperatorError } from '../../shared/app-error.ts'

/** PostgreSQL reads a page of zeros as an empty page, so its rows are missing without an error. */
export class LostRowsError extends OperatorError {
  constructor(reason: string) {
    super(`Rows of the database's own tables are missing: ${reason}`)
  }
}

/** The first start fills these tables in one transaction, and they are never emptied. */
const FILLED = ['workspace', 'author', 'api_key'] as const

/**
 * Checks that the tables of the first start are all filled or all empty. Otherwise a server whose workspaces are lost would
 * create another one, and replace the admin key.
 * @throws LostRowsError
 */
export async function requireOwnRows(session: SqlSession): Promise<void> {
  const columns = FILLED.map((table) => `EXISTS (SELECT FROM ${table}) AS ${table}`)
  const { rows } = await session.query(`SELECT ${columns.join(', ')}`)
  const empty = FILLED.filter((table) => rows[0]?.[table] === false)
  if (empty.length > 0 && empty.length < FILLED.length) {
    const filled = FILLED.filter((table) => !empty.includes(table))
    throw new LostRowsError(`no rows in ${empty.join(' and ')}, but rows in ${filled.join(' and ')}`)
  }
}
