/**
 * Walks the README as a newcomer would: a fresh clone, an empty data folder, only the commands that stand there.
 * The blocks are those behind `<!-- walk: server -->` and `<!-- walk: client -->`; lines that begin with `$ ` are commands.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const readyLimitMs = 240_000
const commandLimitMs = 60_000

const folder = mkdtempSync(join(tmpdir(), 'stet-walk-'))
const clone = join(folder, 'stet')
execFileSync('git', ['clone', '-q', '.', clone])
const readme = readFileSync(join(clone, 'README.md'), 'utf8')

const port = await freePort()
// Settings, not changes of the commands: another server may hold the default port of this machine.
const environment = {
  ...process.env,
  PORT: String(port),
  STET_BASE_URL: `http://127.0.0.1:${port}`,
  XDG_CONFIG_HOME: join(folder, 'config'),
  XDG_STATE_HOME: join(folder, 'state'),
}
delete (environment as Record<string, string | undefined>)['CI']

const [startCommand = ''] = commandsBehind('server')
const startedMs = Date.now()
const server = spawn('bash', ['-c', startCommand], {
  cwd: clone,
  env: environment,
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: true,
})
try {
  await waitUntilReady()
  console.log(`walk: ready ${((Date.now() - startedMs) / 1000).toFixed(1)} s after the first command`)
  const outputs = commandsBehind('client').map(run)
  const answer = outputs.at(-1) ?? ''
  if (answer.trim().split(/\s+/).length < 5) throw new Error(`the last command answered only: ${answer}`)
  console.log(`walk: done in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`)
} finally {
  await stop()
  rmSync(folder, { recursive: true, force: true })
}

function commandsBehind(name: string): string[] {
  const block = new RegExp(`<!-- walk: ${name} -->\\s*\`\`\`\\w*\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1]
  if (block === undefined) throw new Error(`README.md has no block behind <!-- walk: ${name} -->`)
  return block
    .split('\n')
    .filter((line) => line.startsWith('$ '))
    .map((line) => line.slice(2))
}

function run(command: string): string {
  console.log(`$ ${command}`)
  const { status, stdout } = spawnSync('bash', ['-c', command], {
    cwd: clone,
    env: environment,
    encoding: 'utf8',
    timeout: commandLimitMs,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.stdout.write(stdout)
  if (status !== 0) throw new Error(`exit code ${status}: ${command}`)
  return stdout
}

async function waitUntilReady(): Promise<void> {
  while (Date.now() - startedMs < readyLimitMs) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
    const isReady = await fetch(`http://127.0.0.1:${port}/ready`).then(
      (answer) => answer.ok,
      () => false,
    )
    if (isReady) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`not ready after ${readyLimitMs / 1000} s`)
}

// The whole process group: the command line starts the package manager, which starts the server.
async function stop(): Promise<void> {
  if (server.exitCode !== null || server.pid === undefined) return
  const ended = new Promise((resolve) => server.once('exit', resolve))
  process.kill(-server.pid, 'SIGTERM')
  await ended
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
}
