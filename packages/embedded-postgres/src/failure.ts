/** A failure with a message for the operator, shown without a stack. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
}

/** The database thread does not answer. It may still execute the request. */
export class DatabaseSilentError extends Error {
  override readonly name = 'DatabaseSilentError'
  readonly code = 'DATABASE_SILENT'

  constructor() {
    super('The embedded database does not answer')
  }
}

/** The exit code of a process whose database could not write: `EX_IOERR` of `sysexits.h`. */
export const IO_FAILURE = 74
