import { Socket } from 'node:net'
import pg from 'pg'

const CONNECT_TIMEOUT_MS = 1_000

/** A connection to PostgreSQL that can be cut when the server has stopped answering. */
export class Connection extends pg.Client {
  readonly #socket: Socket

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket()
    // Its own limit for connecting: the pool's one would also end waits for a free connection.
    super({ ...config, stream: () => socket, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
    this.#socket = socket
  }

  /** Everything that waits for an answer fails at once. */
  cut(): void {
    this.#socket.destroy()
  }
}
