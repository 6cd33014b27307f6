/** Every control listens on a free port and prints its address when it is ready. */
import type { Server } from 'node:http'

export function listen(server: Server): void {
  server.keepAliveTimeout = 65_000
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    console.log(`ready on http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`)
  })
}

/** Address of the provider that a control forwards to. */
export const upstream = new URL(process.env['UPSTREAM'] ?? 'http://127.0.0.1:1')
