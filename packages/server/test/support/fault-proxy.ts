/** A TCP proxy that misbehaves on demand: it resets connections, and cuts or splits responses. */
import { connect, createServer, type Socket } from 'node:net'
import { listenOn, listenOnKeptPort } from './kept-port.ts'

export interface FaultProxy {
  readonly port: number
  readonly connections: number
  /** Resets the next `count` connections as soon as a byte of a request arrives. */
  resetNext(count: number): void
  /** Cuts the responses of the next connections, each after one of these numbers of bytes. */
  cutAfter(...bytes: number[]): void
  /** Splits responses into pieces of this size, one per event-loop tick. */
  chop(bytes: number): void
  close(): Promise<void>
}

/** Starts a proxy in front of a local port. The proxy listens on `closedPort`, or on a free port. */
export async function faultProxy(targetPort: number, closedPort?: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  let connections = 0
  let resets = 0
  let pieceBytes = Number.POSITIVE_INFINITY
  let cuts: number[] = []

  const server = createServer((client) => {
    connections += 1
    track(client)
    if (resets > 0) {
      resets -= 1
      client.once('data', () => client.resetAndDestroy())
      return
    }
    const target = track(connect(targetPort, '127.0.0.1'))
    client.pipe(target)
    let left = cuts.shift() ?? Number.POSITIVE_INFINITY
    if (left < Number.POSITIVE_INFINITY) {
      target.on('data', (bytes: Buffer) => {
        // Nothing after the cut is forwarded, even if earlier bytes are still being sent.
        if (left <= 0) return
        const isLast = bytes.length >= left
        client.write(bytes.subarray(0, left), () => isLast && client.destroy())
        left -= bytes.length
      })
      target.on('end', () => client.end())
      client.on('close', () => target.destroy())
      return
    }
    hand(target, client, () => pieceBytes).catch(() => client.destroy())
    client.on('close', () => target.destroy())
  })
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    return socket
  }
  if (closedPort !== undefined) await listenOn(server, closedPort)
  const port = closedPort ?? (await listenOnKeptPort(server))

  return {
    port,
    get connections() {
      return connections
    },
    resetNext(count) {
      resets = count
    },
    cutAfter(...bytes) {
      cuts = bytes
    },
    chop(bytes) {
      pieceBytes = bytes
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function hand(from: Socket, to: Socket, pieceBytes: () => number): Promise<void> {
  for await (const bytes of from) {
    const whole = bytes as Buffer
    for (let at = 0; at < whole.length; at += pieceBytes()) {
      to.write(whole.subarray(at, at + pieceBytes()))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  to.end()
}
