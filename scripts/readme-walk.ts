/**
 * Walks the README as a newcomer would: a fresh clone, an empty data folder, only the commands and files that stand there; then an
 * empty folder, up to a typed application. The blocks are those behind `<!-- walk: … -->`; lines that begin with `$ ` are commands.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const readyLimitMs = 240_000
const commandLimitMs = 60_000

const startedMs = Date.now()
const folder = mkdtempSync(join(tmpdir(), 'stet-walk-'))
const clone = join(folder, 'stet')
execFileSync('git', ['clone', '-q', '.', clone])
const readme = readFileSync(join(clone, 'README.md'), 'utf8')

const port = await freePort()
// Settings, not changes of the commands: another server may hold the default port of this machine.
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  PORT: String(port),
  STET_BASE_URL: `http://127.0.0.1:${port}`,
  XDG_CONFIG_HOME: join(folder, 'config'),
  XDG_STATE_HOME: join(folder, 'state'),
}
delete environment['CI']

try {
  await withServer('server', clone, () => {
    const answer =
      commandsBehind('client')
        .map((command) => run(command, clone))
        .at(-1) ?? ''
    if (answer.trim().split(/\s+/).length < 5) throw new Error(`the last command answered only: ${answer}`)
  })
  // The command that starts this server makes the folder.
  const own = join(clone, 'my-bot')
  await withServer('own server', clone, () => {
    writeBlock('prompts/support/triage.promptl', own)
    for (const command of commandsBehind('own client')) run(command, own)
    writeBlock('app.mts', own)
    const [compile = '', start = ''] = commandsBehind('own application')
    run(compile, own)
    const answer = run(start, own)
    if (!/^(urgent|can wait): (bug|billing|other)\n$/.test(answer)) throw new Error(`the application said: ${answer}`)
  })
  say('done')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function say(text: string): void {
  console.log(`walk: ${text} ${((Date.now() - startedMs) / 1000).toFixed(1)} s after the first command`)
}

/** The fenced block behind a mark of the README. */
function block(name: string): string {
  const [, text] = new RegExp(`<!-- walk: ${name} -->\\s*\`\`\`\\w*\\n([\\s\\S]*?)\`\`\``).exec(readme) ?? []
  if (text === undefined) throw new Error(`README.md has no block behind <!-- walk: ${name} -->`)
  return text
}

function commandsBehind(name: string): string[] {
  const lines = block(name).split('\n')
  return lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
}

function writeBlock(name: string, cwd: string): void {
  const file = join(cwd, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, block(`file ${name}`))
}

function run(command: string, cwd: string): string {
  console.log(`$ ${command}`)
  const { status, stdout } = spawnSync('bash', ['-c', command], {
    cwd,
    env: environment,
    encoding: 'utf8',
    timeout: commandLimitMs,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.stdout.write(stdout)
  if (status !== 0) throw new Error(`exit code ${status}: ${command}`)
  return stdout
}

/** Starts the server of a block, does something with it, and ends it. */
async function withServer(name: string, cwd: string, use: () => void): Promise<void> {
  const [command = ''] = commandsBehind(name)
  console.log(`$ ${command}`)
  const server = spawn('bash', ['-c', command], {
    cwd,
    env: environment,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
  try {
    await waitUntilReady(server)
    say(`${name} ready`)
    use()
  } finally {
    await stop(server)
  }
}

async function waitUntilReady(server: ChildProcess): Promise<void> {
  const limitMs = Date.now() + readyLimitMs
  while (Date.now() < limitMs) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
    if ((await readyStatus()) === 200) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`not ready after ${readyLimitMs / 1000} s`)
}

/** What the server says about itself; undefined when nothing listens. */
async function readyStatus(): Promise<number | undefined> {
  return fetch(`http://127.0.0.1:${port}/ready`).then(
    ({ status }) => status,
    () => undefined,
  )
}

// The whole process group: the command line starts the package manager, which starts the server.
async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.pid === undefined) return
  const ended = new Promise((resolve) => server.once('exit', resolve))
  process.kill(-server.pid, 'SIGTERM')
  await ended
  // The shell ends at once, the server after its work: the next one needs the port.
  while ((await readyStatus()) !== undefined) await new Promise((resolve) => setTimeout(resolve, 100))
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
}
