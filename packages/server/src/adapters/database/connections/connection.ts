import { Socket } from 'node:net'
import pg from 'pg'
import { afterListening } from '../../../shared/time/listening-time.ts'
import { codeOf } from '../unique-violation.ts'

/** A statement waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

/** A connection to PostgreSQL that can be cut when the server has stopped answering. */
export class Connection extends pg.Client {
  /** Event: one of its statements ran into the lock timeout. */
  static readonly LOCK_TIMEOUT = 'lock-timeout'
  readonly #socket: Socket

  /** @param silenceMs how long the server may take to accept the connection. */
  constructor(config: pg.ClientConfig, silenceMs: number) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
    // Its own limit for connecting: the pool's one would also end waits for a free connection.
    const stopTimer = afterListening(silenceMs, () => socket.destroy(new Error('timeout expired')))
    this.once('connect', stopTimer).once('end', stopTimer)
    const send = this.query.bind(this) as (...args: unknown[]) => unknown
    this.query = ((...args: unknown[]) => {
      const result = send(...args)
      if (result instanceof Promise) {
        result.catch((error: unknown) => isLockTimeout(error) && this.emit(Connection.LOCK_TIMEOUT, error))
      }
      return result
    }) as typeof this.query
  }

  /** Everything that waits for an answer fails at once. */
  cut(): void {
    this.#socket.destroy()
  }
}
