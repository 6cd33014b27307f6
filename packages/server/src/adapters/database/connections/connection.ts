import { Socket } from 'node:net'
import pg from 'pg'
import { afterListening } from './listening-time.ts'

const CONNECT_TIMEOUT_MS = 1_000

/** A connection to PostgreSQL that can be cut when the server has stopped answering. */
export class Connection extends pg.Client {
  readonly #socket: Socket

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
    // Its own limit for connecting: the pool's one would also end waits for a free connection.
    const stopTimer = afterListening(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('timeout expired')))
    this.once('connect', stopTimer).once('end', stopTimer)
  }

  /** Everything that waits for an answer fails at once. */
  cut(): void {
    this.#socket.destroy()
  }
}
