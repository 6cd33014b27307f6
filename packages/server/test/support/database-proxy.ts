import { connect, createServer, type Server, type Socket } from 'node:net'
import { listenOn, listenOnKeptPort } from './kept-port.ts'

/** A TCP proxy in front of the PostgreSQL server, so that a single test can take the database offline. */
export interface DatabaseProxy {
  url: string
  /** Simulates a stopped server: closes connections and refuses new ones. */
  goAway(): Promise<void>
  /** Simulates a frozen server: connections stay open without responses. */
  freeze(): void
  /** Simulates a firewall: clients lose their connections without notice to the database. */
  forgetClients(): void
  /**
   * From the statement with this text on, the database executes statements, but clients do not receive the responses.
   */
  loseAnswersFrom(text: string): void
  /** Clients receive no responses until a client has sent this text. */
  holdAnswersUntil(text: string): void
  comeBack(): Promise<void>
}

export async function startDatabaseProxy(target: string): Promise<DatabaseProxy> {
  const { hostname, port: targetPort } = new URL(target)
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  const forgotten = new WeakSet<Socket>()
  let isFrozen = false
  let losesAnswers = false
  let losesFrom: string | undefined
  let holdsUntil: string | undefined
  let held: (() => void)[] = []
  let server: Server | undefined
  let port: number | undefined

  const accept = (client: Socket) => {
    const upstream = connect(Number(targetPort || 5432), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => sockets.delete(socket))
    }
    clients.add(client)
    client.on('close', () => {
      clients.delete(client)
      if (!forgotten.has(client)) upstream.destroy()
    })
    upstream.on('close', () => client.destroy())
    client.on('data', (bytes) => {
      if (isFrozen) return
      if (losesFrom !== undefined && bytes.includes(losesFrom)) losesAnswers = true
      upstream.write(bytes)
      if (holdsUntil === undefined || !bytes.includes(holdsUntil)) return
      holdsUntil = undefined
      for (const forward of held) forward()
      held = []
    })
    upstream.on('data', (bytes) => {
      if (isFrozen || losesAnswers) return
      if (holdsUntil === undefined) client.write(bytes)
      else held.push(() => void client.write(bytes))
    })
  }
  const listen = async () => {
    server = createServer(accept)
    if (port === undefined) port = await listenOnKeptPort(server)
    else await listenOn(server, port)
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
    forgetClients() {
      for (const client of clients) {
        forgotten.add(client)
        client.destroy()
      }
    },
    holdAnswersUntil(text) {
      holdsUntil = text
    },
    loseAnswersFrom(text) {
      losesFrom = text
    },
    async comeBack() {
      isFrozen = false
      losesAnswers = false
      losesFrom = undefined
      if (server?.listening !== true) await listen()
    },
  }
}
