/** PostgreSQL has the same session as the embedded database, so stores and migrations work on both. */
export type { SqlQueries, SqlSession, SqlStatement } from '@stet/embedded-postgres/sql-session'
