/** A failure whose message is for the operator and is printed without a stack. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
}

/** Another process holds the lock of the database directory. */
export class DatabaseInUseError extends EmbeddedPostgresError {}

/** Files of the database are damaged or missing. The way out is a backup. */
export class DamagedDatabaseError extends EmbeddedPostgresError {
  readonly kind: 'absent' | 'files'
  /** The position up to which writes are lost, if the database can open without them. */
  readonly lostUpTo: string | undefined

  constructor(message: string, kind: DamagedDatabaseError['kind'], lostUpTo?: string) {
    super(message)
    this.kind = kind
    this.lostUpTo = lostUpTo
  }
}

/** The database thread is not responding. The thread may still execute the request. */
export class DatabaseSilentError extends Error {
  override readonly name = 'DatabaseSilentError'
  readonly code = 'DATABASE_SILENT'

  constructor() {
    super('The embedded database does not answer')
  }
}

/** The exit code after a fatal failure of the database: `EX_IOERR` from `sysexits.h`. */
export const IO_FAILURE = 74
