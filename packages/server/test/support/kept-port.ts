import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Linux publishes its ephemeral port range. Other systems use ports within the usual range. */
const handedOutFile = '/proc/sys/net/ipv4/ip_local_port_range'
const usual = '32768 65535'
const lowest = 10_000
const highest = 65_535
const tries = 1_000

/**
 * Listens on a port that a test closes and opens again. The port is outside the system's ephemeral range, so no
 * outgoing connection can take it while it is closed.
 */
export async function listenOnKeptPort(server: Server): Promise<number> {
  const told = existsSync(handedOutFile) ? readFileSync(handedOutFile, 'utf8') : usual
  const [first = 0, last = 0] = told.trim().split(/\s+/).map(Number)
  for (let made = 0; made < tries; made += 1) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest))
    const isHandedOut = port >= first && port <= last
    if (!isHandedOut && (await hasTaken(server, port))) return port
  }
  // Falls back to any free port if no attempt succeeds.
  await listenOn(server, 0)
  return (server.address() as AddressInfo).port
}

/** Returns a port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listenOnKeptPort(server)
  server.close()
  await once(server, 'close')
  return port
}

export async function listenOn(server: Server, port: number): Promise<void> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
}

async function hasTaken(server: Server, port: number): Promise<boolean> {
  try {
    await listenOn(server, port)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}
