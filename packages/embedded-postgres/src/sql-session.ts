export interface SqlResult {
  rows: Record<string, unknown>[]
  /** Rows that an INSERT, UPDATE or DELETE touched. */
  affectedRows: number
}

/** Plain SQL on one handle: a session, or a transaction of it. */
export interface SqlQueries {
  /** One statement with `$1` parameters. Pass JSON as text with a `::jsonb` cast: drivers treat arrays differently. */
  query(sql: string, params?: readonly unknown[]): Promise<SqlResult>
  /** Several statements without parameters. */
  script(sql: string): Promise<void>
}

export interface SqlStatement {
  sql: string
  /** Texts, numbers, bytes, lists of these, and null; JSON as text. */
  params: readonly unknown[]
}

/** The interface for the migration applier, the write batch and upkeep; both kinds of database have one. */
export interface SqlSession extends SqlQueries {
  /** Commits when `work` resolves, rolls back when it throws. */
  transaction<T>(work: (queries: SqlQueries) => Promise<T>): Promise<T>
  /** All statements or none, in as few round trips as the database allows; the rows of each. Select texts only. */
  batch(statements: readonly SqlStatement[]): Promise<Record<string, unknown>[][]>
}
