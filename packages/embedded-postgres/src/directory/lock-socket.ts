import { closeSync, existsSync, openSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { EmbeddedPostgresError } from '../failure.ts'

/** Some systems truncate or reject longer socket paths. On Linux, `shortPath` avoids the limit. */
const MAX_SOCKET_PATH = 103

export interface LockServer {
  /** Passes each new connection to `handle`. Until this call, new connections are closed immediately. */
  serve(handle: (connection: Socket) => void): void
  /** Closes open and new connections. */
  stopServing(): void
  close(): Promise<void>
}

export function listen(path: string): Promise<LockServer> {
  const refuse = (connection: Socket): void => void connection.destroy()
  let handle = refuse
  const connections = new Set<Socket>()
  const server = createServer((connection) => {
    connections.add(connection)
    connection.unref()
    connection.on('error', () => connection.destroy()).on('close', () => connections.delete(connection))
    handle(connection)
  })
  server.unref()
  const stopServing = () => {
    handle = refuse
    for (const connection of connections) connection.destroy()
  }
  const opened: LockServer = {
    serve(next) {
      handle = next
    },
    stopServing,
    close() {
      stopServing()
      return new Promise((done) => server.close(() => done()))
    },
  }
  return new Promise((done, failed) => {
    server.once('error', failed)
    server.listen({ path }, () => done(opened))
  })
}

export async function listenAt(directory: string, path: string): Promise<LockServer> {
  if (process.platform !== 'linux' && path.length > MAX_SOCKET_PATH) {
    throw new EmbeddedPostgresError(`The path of the database, ${directory}, is too long for the socket of its lock`)
  }
  return listen(path).catch((error: NodeJS.ErrnoException) => {
    // Node reports EACCES if the folder was deleted.
    if (!existsSync(dirname(path))) throw Object.assign(new Error(error.message), { code: 'ENOENT' })
    if (error.code === 'ENOSPC') throw error
    const advice = 'put the folder on a local file system that has sockets'
    throw new EmbeddedPostgresError(`The database in ${directory} cannot be locked (${error.message}): ${advice}`)
  })
}

export function stateOf(path: string): Promise<'alive' | 'dead' | 'absent'> {
  return new Promise((tell) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      tell('alive')
    })
    // A dead holder's socket refuses connections. Errors other than ECONNREFUSED and ENOENT count as alive.
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') tell('absent')
      else tell(error.code === 'ECONNREFUSED' ? 'dead' : 'alive')
    })
  })
}

/** On Linux, shortens the path through a directory descriptor, because socket paths are limited to 107 characters. */
export function shortPath(directory: string): { path: string; close(): void } {
  if (process.platform !== 'linux') return { path: directory, close: () => undefined }
  const descriptor = openSync(directory, 'r')
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) }
}
