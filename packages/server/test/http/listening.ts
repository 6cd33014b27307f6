import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HttpServer } from '../../src/http/server.ts'

export interface Listening {
  server: HttpServer
  port: number
  url: string
  close(): Promise<void>
}

export async function listening(
  listener: RequestListener,
  limits?: ConstructorParameters<typeof HttpServer>[1],
): Promise<Listening> {
  const server = new HttpServer(listener, limits)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
