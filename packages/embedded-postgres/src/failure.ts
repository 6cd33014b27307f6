/** A failure whose message is written for the operator: it says what to do, and needs no stack. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
}

/** The database thread does not answer. What was asked may still be executed. */
export class DatabaseSilentError extends Error {
  override readonly name = 'DatabaseSilentError'
  readonly code = 'DATABASE_SILENT'

  constructor() {
    super('The embedded database does not answer')
  }
}

/** The exit code of a process whose database could not write: `EX_IOERR` of `sysexits.h`. */
export const IO_FAILURE = 74
