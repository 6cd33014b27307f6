/** Listens on a free port and prints the address when ready. Every control starts this way. */
import type { Server } from 'node:http'

export function listen(server: Server): void {
  server.keepAliveTimeout = 65_000
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    console.log(`ready on http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`)
  })
}

/** The provider URL that a control forwards to. */
export const upstream = new URL(process.env['UPSTREAM'] ?? 'http://127.0.0.1:1')
