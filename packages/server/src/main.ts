/** Runs the server process: commands, listening, signals and draining. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type Composition, compose } from './compose.ts'
import { type Config, readConfig } from './config.ts'
import { makeDataFolder } from './data-files.ts'
import { publicUrlOf, signInUrl } from './features/sessions/sign-in-link.ts'
import { HttpServer } from './http/server.ts'
import type { StartedWork } from './lifecycle.ts'
import { runOperatorCommand } from './operator-commands.ts'
import { AppError, OperatorError } from './shared/app-error.ts'

const [command = 'start', ...args] = process.argv.slice(2)

// Awaiting a thread or a WebAssembly compilation does not keep the process alive. This timer does, so that errors are
// printed.
const awake = setInterval(() => undefined, 100)
try {
  if (command === 'start') await serve(readConfig(process.env))
  else process.exitCode = await runOperatorCommand(command, args)
  clearInterval(awake)
} catch (error) {
  exitWith(error)
}

async function serve(config: Config): Promise<void> {
  makeDataFolder(config)
  // The reader of the output may end first, such as a killed `stet serve`. A failed write must not end the server, which
  // still has to store its runs and release its lock.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const composition = await compose(config)
  // Prints the first key before listening, because listening may fail and the key is shown only once.
  if (!composition.isWaiting) tellFirstKey(await composition.started)
  const server = new HttpServer(composition.app, { maxConnections: config.maxConnections })
  try {
    await listen(server, config)
  } catch (error) {
    await composition.close()
    throw error
  }
  // A supervisor may send a signal as soon as an address is printed, so the signal handlers are installed first.
  const stop = drainOnSignal(server, composition)
  const address = addressOf(server, config)
  if (composition.isWaiting) {
    process.stdout.write(`stet waiting on ${address} for the server that has this database to stop\n`)
    const work = await composition.started
    if (!work) return
    tellFirstKey(work)
  }
  process.stdout.write(`${consoleLine(server, config, await composition.started)}stet listening on ${address}\n`)
  void composition.superseded.then(() => stop(new OperatorError('Another server has taken over this database')))
}

function tellFirstKey(work: StartedWork | undefined): void {
  if (work?.firstKey !== undefined) process.stdout.write(`${work.firstKey}\n`)
}

/** Printed under a first key. A sign-in link is only printed at a first start, because output is often kept. */
function consoleLine(server: Server, config: Config, work: StartedWork | undefined): string {
  if (!config.console) return ''
  const url = publicUrlOf(config, portOf(server, config))
  if (work?.firstCode === undefined) return `console: ${url} (sign in: stet console)\n`
  return `console: ${signInUrl(url, work.firstCode)} (works once, for 15 minutes; later: stet console)\n`
}

async function listen(server: Server, { host, port }: Config): Promise<void> {
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new OperatorError(`Port ${port} of ${host} is in use; set PORT to another one`)
    throw new OperatorError(`Cannot listen on HOST ${host}, PORT ${port} (${message})`)
  }
}

function addressOf(server: Server, config: Config): string {
  return `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${portOf(server, config)}`
}

function portOf(server: Server, config: Config): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : config.port
}

// The first signal drains the server; the second one exits immediately. A closed parent channel counts as a first
// signal: `stet serve` has ended, and this process must not keep the port and the lock. The returned function drains
// for another reason, prints that reason at the end, and exits with 1.
function drainOnSignal(server: HttpServer, composition: Composition): (reason: OperatorError) => void {
  let isDraining = false
  let isSignalled = false
  const drain = (reason?: OperatorError): void => {
    if (isDraining) return
    isDraining = true
    composition.shutDown(server).then(() => (reason ? exitWith(reason) : process.exit(0)), exitWith)
  }
  const onSignal = (): void => {
    if (isSignalled) process.exit(1)
    isSignalled = true
    drain()
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  const onParentGone = (): void => {
    isSignalled = true
    drain()
  }
  process.once('disconnect', onParentGone)
  // The parent may have ended during the start. For a process without a parent channel, `connected` is undefined.
  if (process.connected === false) onParentGone()
  return drain
}

// Setting only an exit code would leave open handles, which keep the process and its lock alive.
function exitWith(error: unknown): void {
  process.stderr.write(`${describeFailure(error)}\n`, () => process.exit(1))
}

// Our own errors and system errors have a message for the operator. Other errors are printed with their stack.
function describeFailure(error: unknown): string {
  if (error instanceof AppError) return `stet-server: ${error.message}${describeCause(error.cause)}`
  if (error instanceof OperatorError) return error.message.replace(/^/gm, 'stet-server: ')
  if (error instanceof Error && 'syscall' in error && 'code' in error) return `stet-server: ${error.message}`
  return `stet-server: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
}

// Clients never get the cause of an AppError, but the operator needs its message.
function describeCause(cause: unknown): string {
  if (cause instanceof AggregateError) return describeCause(cause.errors[0])
  return cause instanceof Error ? ` (${cause.message})` : ''
}
