/** PostgreSQL has the same session as the embedded database: stores and migrations do not know which one they use. */
export type { SqlQueries, SqlSession, SqlStatement } from '@stet/embedded-postgres/sql-session'
