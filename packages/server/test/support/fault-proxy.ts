/** A TCP proxy that misbehaves on demand: toward one connection, or like a broken network toward all of them. */
import { connect, createServer, type Socket } from 'node:net'
import { type Faults, transfer } from './faulty-transfer.ts'
import { listenOn, listenOnKeptPort } from './kept-port.ts'

export interface FaultProxy {
  readonly port: number
  readonly connections: number
  /** Cuts the responses of the next connections, each after one of these numbers of bytes. */
  cutAfter(...bytes: number[]): void
  /** Splits responses into pieces of this size, one per event-loop tick. */
  chop(bytes: number): void
  /** Delivers every byte this many ms late, in both directions. */
  delay(ms: number): void
  /** Limits each direction of each connection. */
  throttle(bytesPerSecond: number): void
  /** Keeps connections open and accepts new ones, but forwards nothing until `restore`. */
  blackHole(): void
  /** Closes the direction toward the clients. Their requests still arrive, and the responses are lost. */
  halfClose(): void
  /** Resets all connections and refuses new ones until `restore`. */
  cut(): Promise<void>
  /** Ends all faults. Bytes from before a black hole then arrive late, as with TCP. */
  restore(): Promise<void>
  close(): Promise<void>
}

const noFaults = { pieceBytes: Number.POSITIVE_INFINITY, delayMs: 0, bytesPerSecond: Number.POSITIVE_INFINITY }

/** Starts a proxy in front of a local port. The proxy listens on `closedPort`, or on a free port. */
export async function faultProxy(targetPort: number, closedPort?: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  const faults: Faults = { ...noFaults, whenOpen: undefined }
  let connections = 0
  let cuts: number[] = []
  let open = () => {}

  const server = createServer((client) => {
    connections += 1
    track(client)
    const target = track(connect(targetPort, '127.0.0.1'))
    const left = cuts.shift()
    if (left !== undefined) return cutResponse(client, target, left)
    clients.add(client)
    const requests = () => ({ ...faults, pieceBytes: noFaults.pieceBytes })
    transfer(client, target, requests).catch(() => target.destroy())
    transfer(target, client, () => faults).catch(() => client.destroy())
    client.on('close', () => {
      clients.delete(client)
      target.destroy()
    })
  })
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    return socket
  }
  const stopListening = async () => {
    for (const socket of sockets) socket.resetAndDestroy()
    await new Promise((resolve) => server.close(resolve))
  }
  if (closedPort !== undefined) await listenOn(server, closedPort)
  const port = closedPort ?? (await listenOnKeptPort(server))

  return {
    port,
    get connections() {
      return connections
    },
    cutAfter(...bytes) {
      cuts = bytes
    },
    chop(bytes) {
      faults.pieceBytes = bytes
    },
    delay(ms) {
      faults.delayMs = ms
    },
    throttle(bytesPerSecond) {
      faults.bytesPerSecond = bytesPerSecond
    },
    blackHole() {
      faults.whenOpen = new Promise((resolve) => {
        open = resolve
      })
    },
    halfClose() {
      for (const client of clients) client.end()
    },
    cut: stopListening,
    async restore() {
      Object.assign(faults, noFaults)
      faults.whenOpen = undefined
      open()
      if (!server.listening) await listenOn(server, port)
    },
    async close() {
      open()
      await stopListening()
    },
  }
}

function cutResponse(client: Socket, target: Socket, bytesLeft: number): void {
  let left = bytesLeft
  client.pipe(target)
  target.on('data', (bytes: Buffer) => {
    // Nothing after the cut is forwarded, even if earlier bytes are still being sent.
    if (left <= 0) return
    const isLast = bytes.length >= left
    client.write(bytes.subarray(0, left), () => isLast && client.destroy())
    left -= bytes.length
  })
  target.on('end', () => client.end())
  client.on('close', () => target.destroy())
}
