/** A failure whose message is for the operator and is printed without a stack. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
}

/** Another process holds the lock of the database directory. */
export class DatabaseInUseError extends EmbeddedPostgresError {}

/** Files of the database are damaged or missing. The way out is a backup. */
export class DamagedDatabaseError extends EmbeddedPostgresError {
  /** There are no files; files are damaged; or the database does not open, probably because of its files. */
  readonly kind: 'absent' | 'files' | 'unopened'
  /** The position up to which writes are lost, if the database can open without them. */
  readonly lostUpTo: string | undefined

  constructor(message: string, kind: DamagedDatabaseError['kind'], lostUpTo?: string) {
    super(message)
    this.kind = kind
    this.lostUpTo = lostUpTo
  }
}

/** Data or index corrupted, a missing relation file, a read error. */
const DAMAGE_CODES = new Set(['XX001', 'XX002', '58P01', '58030'])
/** The only error unexpected by PostgreSQL that a large input can cause. */
const UNEXPECTED = 'XX000'
const IS_TOO_LARGE = /^invalid memory alloc request size/

/**
 * True if the statement failed because of damaged files. In a catalog, damage is an error that PostgreSQL does not expect,
 * such as a failed cache lookup.
 */
export function isDamage(code: unknown, message: string): boolean {
  return DAMAGE_CODES.has(String(code)) || (code === UNEXPECTED && !IS_TOO_LARGE.test(message))
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
