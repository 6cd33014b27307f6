import { Socket } from 'node:net'
import pg from 'pg'

/** A connection to PostgreSQL that can be cut when the server has stopped answering. */
export class Connection extends pg.Client {
  readonly #socket: Socket

  /** @param silenceMs how long the server may take to accept the connection. */
  constructor(config: pg.ClientConfig, silenceMs: number) {
    const socket = new Socket()
    // Its own limit for connecting: the pool's one would also end waits for a free connection.
    super({ ...config, stream: () => socket, connectionTimeoutMillis: silenceMs })
    this.#socket = socket
  }

  /** Everything that waits for an answer fails at once. */
  cut(): void {
    this.#socket.destroy()
  }
}
