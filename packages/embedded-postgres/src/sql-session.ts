export interface SqlResult {
  rows: Record<string, unknown>[]
  affectedRows: number
}

export interface SqlQueries {
  /** Pass JSON as text with a `::jsonb` cast, because drivers treat arrays differently. */
  query(sql: string, params?: readonly unknown[]): Promise<SqlResult>
  script(sql: string): Promise<void>
}

export interface SqlStatement {
  sql: string
  /** Text, numbers, bytes, null, or lists of text, numbers and null. Pass JSON as text. */
  params: readonly unknown[]
}

export interface SqlSession extends SqlQueries {
  transaction<T>(work: (queries: SqlQueries) => Promise<T>): Promise<T>
  /** Runs all statements atomically and returns the rows of each. Every selected column must be text. */
  batch(statements: readonly SqlStatement[]): Promise<Record<string, unknown>[][]>
}
