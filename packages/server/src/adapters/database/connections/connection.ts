import { Socket } from 'node:net'
import pg from 'pg'
import { afterListening } from '../../../shared/time/listening-time.ts'

/** A connection to PostgreSQL that can be cut when the server has stopped answering. */
export class Connection extends pg.Client {
  readonly #socket: Socket

  /** @param silenceMs how long the server may take to accept the connection. */
  constructor(config: pg.ClientConfig, silenceMs: number) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
    // Its own limit for connecting: the pool's one would also end waits for a free connection.
    const stopTimer = afterListening(silenceMs, () => socket.destroy(new Error('timeout expired')))
    this.once('connect', stopTimer).once('end', stopTimer)
  }

  /** Everything that waits for an answer fails at once. */
  cut(): void {
    this.#socket.destroy()
  }
}
