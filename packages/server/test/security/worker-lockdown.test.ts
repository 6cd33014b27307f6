/**
 * Runs hostile code in the real worker process: the shipped bundle with the code appended, started like every worker.
 * Unlike a template, the code can use the bundle's variables and `import()`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { isolation, launchWorker } from '../../src/adapters/template-workers/isolation.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { builtWorker } from '../templates/support/engine.ts'

async function openTarget(): Promise<{ port: number; connections: () => number }> {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}

const attempts: Record<string, string> = {
  'net by import': `opened((await import('node:net')).connect(PORT, '127.0.0.1'))`,
  'net by a constructor': `opened(new process.stdin.constructor().connect(PORT, '127.0.0.1'))`,
  'net server': `new Promise((ok, no) => import('node:net').then((net) => net.createServer().listen(0, ok).on('error', no)).catch(no))`,
  'net by require': `opened(createRequire(import.meta.url)('net').connect(PORT, '127.0.0.1'))`,
  'net by the require of the bundle': `opened(__require('net').connect(PORT, '127.0.0.1'))`,
  'net by getBuiltinModule': `opened(process.getBuiltinModule('net').connect(PORT, '127.0.0.1'))`,
  'net by Module._load': `opened((await import('node:module')).default._load('net').connect(PORT, '127.0.0.1'))`,
  dgram: `new Promise((ok, no) => import('node:dgram').then((dgram) => dgram.createSocket('udp4').send('x', PORT, '127.0.0.1', (error) => (error ? no(error) : ok()))).catch(no))`,
  http: `opened((await import('node:http')).get('http://127.0.0.1:PORT'), 'response')`,
  https: `opened((await import('node:https')).get('https://127.0.0.1:PORT'), 'response')`,
  http2: `opened((await import('node:http2')).connect('http://127.0.0.1:PORT'))`,
  tls: `opened((await import('node:tls')).connect(PORT, '127.0.0.1'), 'secureConnect')`,
  fetch: `fetch('http://127.0.0.1:PORT')`,
  WebSocket: `opened(new WebSocket('ws://127.0.0.1:PORT'), 'open')`,
  'DNS lookup': `(await import('node:dns/promises')).lookup('localhost')`,
  'DNS resolver': `new (await import('node:dns')).promises.Resolver().resolve4('localhost')`,
  child_process: `(await import('node:child_process')).execFileSync('/bin/true')`,
  'child_process with a handle': `new (await import('node:child_process')).ChildProcess().spawn({ file: '/bin/true', args: [] })`,
  worker_threads: `opened(new (await import('node:worker_threads')).Worker('1', { eval: true }), 'online')`,
  cluster: `(await import('node:cluster')).default.fork()`,
  inspector: `(await import('node:inspector')).open(0)`,
  'process.binding': `process.binding('tcp_wrap')`,
  'process._linkedBinding': `process._linkedBinding('tcp_wrap')`,
  'process.dlopen': `process.dlopen({ exports: {} }, '/tmp/x.node')`,
  'process.execve': `process.execve('/bin/true', ['true'])`,
  'signal to the server': `process.kill(process.ppid, 0)`,
  'the native pipe': `process.stdin._handle.connect({}, '/tmp/x.sock')`,
  'file by import': `(await import('node:fs')).readFileSync('/etc/hostname', 'utf8')`,
  'file by promises': `(await import('node:fs/promises')).readFile('/etc/hostname', 'utf8')`,
  'own file': `(await import('node:fs')).readFileSync(new URL(import.meta.url))`,
  'file by import of a module': `import('/etc/hostname')`,
  'SQLite, whose files the permission model of Node 24 lets through': `new (await import('node:sqlite')).DatabaseSync(':memory:')`,
  'a trace file, which the permission model of Node 20 lets through': `(await import('node:trace_events')).createTracing({ categories: ['node'] }).enable()`,
  'flags of the engine': `(await import('node:v8')).setFlagsFromString('--expose-gc')`,
  'code from a string in a new context': `(await import('node:vm')).runInNewContext('1')`,
  'code from a string': `new Function('return 1')()`,
  'the environment': `Object.keys(process.env).length > 0 || Promise.reject(new Error('it is empty'))`,
  'a prototype by __proto__': `({}).__proto__.x`,
  'a changed built-in': `(() => { 'use strict'; Array.prototype.join = () => 'changed' })()`,
}

const probe = (port: number): string => `
const opened = (emitter, event = 'connect') => new Promise((ok, no) => {
  emitter.on ? emitter.on(event, ok).on('error', no) : Object.assign(emitter, { onopen: ok, onerror: no })
})
const outcomes = {}
const attempt = async (name, run) => {
  try {
    await run()
    outcomes[name] = 'done'
  } catch (error) {
    outcomes[name] = 'refused: ' + String(error?.message ?? error)
  }
}
process.removeAllListeners('uncaughtException')
process.on('uncaughtException', (error) => { outcomes.uncaught = String(error) })
${Object.entries(attempts)
  .map(([name, code]) => `await attempt(${JSON.stringify(name)}, async () => ${code.replaceAll('PORT', String(port))})`)
  .join('\n')}
process.stdout.write(JSON.stringify(outcomes) + '\\n')
`

async function linesOf(child: ChildProcess, count: number): Promise<string[]> {
  onTestFinished(() => void child.kill('SIGKILL'))
  if (!child.stdout) throw new Error('The worker has no output')
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (lines.length === count) break
  }
  return lines
}

it('cannot escape the worker process', async () => {
  const target = await openTarget()
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'template-worker.mjs')
  await writeFile(file, (await readFile(await builtWorker(), 'utf8')) + probe(target.port))
  const [greeting, found = '{}'] = await linesOf(launchWorker(file, await isolation()), 2)
  expect(JSON.parse(greeting ?? '')).toMatchObject({ id: 0, result: 'ready' })
  const outcomes = JSON.parse(found) as Record<string, string>
  expect(Object.keys(outcomes).sort()).toEqual(Object.keys(attempts).sort())
  expect(Object.entries(outcomes).filter(([, outcome]) => !outcome.startsWith('refused'))).toEqual([])
  expect(target.connections()).toBe(0)
})

it('has no network if the kernel allows a namespace, and resource limits if prlimit exists', async () => {
  const { port } = await openTarget()
  const code = `
    const { readFileSync } = require('node:fs')
    const socket = require('node:net').connect(${port}, '127.0.0.1')
    const tell = (network) => {
      const limits = readFileSync('/proc/self/limits', 'utf8')
      const limitOf = (name) => limits.split('\\n').find((line) => line.startsWith(name))?.slice(26).trim().split(/ +/)[1]
      const told = { network, core: limitOf('Max core file size'), file: limitOf('Max file size'), files: limitOf('Max open files') }
      console.log(JSON.stringify(told))
    }
    socket.on('connect', () => tell('shared')).on('error', () => tell('namespace'))`
  const { prefix, network, limits } = await isolation()
  const [program = process.execPath, ...args] = [...prefix, process.execPath, '-e', code]
  const [line = '{}'] = await linesOf(spawn(program, args, { env: {}, stdio: ['ignore', 'pipe', 'inherit'] }), 1)
  const told = JSON.parse(line) as object
  expect(told).toMatchObject({ network })
  if (limits === 'kernel') expect(told).toMatchObject({ core: '0', file: '0', files: '64' })
})
