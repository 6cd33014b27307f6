import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy before the PostgreSQL server, so that the database can be away for one test and not for the others. */
export interface DatabaseProxy {
  /** The URL through the proxy. */
  url: string
  /** The server is down: connections are closed, new ones refused. */
  goAway(): Promise<void>
  /** The server is frozen: connections stay, nothing is answered. */
  freeze(): void
  /** The server does what it is asked; its answers are lost. */
  loseAnswers(): void
  comeBack(): Promise<void>
}

export async function startDatabaseProxy(target: string): Promise<DatabaseProxy> {
  const { hostname, port: targetPort } = new URL(target)
  const sockets = new Set<Socket>()
  let isFrozen = false
  let losesAnswers = false
  let server: Server | undefined
  let port = 0

  const accept = (client: Socket) => {
    const upstream = connect(Number(targetPort || 5432), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.on('data', (bytes) => isFrozen || upstream.write(bytes))
    upstream.on('data', (bytes) => isFrozen || losesAnswers || client.write(bytes))
  }
  const listen = async () => {
    server = createServer(accept).listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (typeof address === 'object' && address !== null) port = address.port
  }
  await listen()
  const url = new URL(target)
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    async goAway() {
      const closed = new Promise((done) => server?.close(done))
      for (const socket of sockets) socket.destroy()
      await closed
    },
    freeze() {
      isFrozen = true
    },
    loseAnswers() {
      losesAnswers = true
    },
    async comeBack() {
      isFrozen = false
      losesAnswers = false
      if (server?.listening !== true) await listen()
    },
  }
}
