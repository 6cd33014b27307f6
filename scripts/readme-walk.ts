/**
 * Walks the README as a newcomer would: a fresh clone, an empty data folder, only the commands and files that stand there; then an
 * empty folder, up to a typed application. The blocks are those behind `<!-- walk: … -->`; lines that begin with `$ ` are commands.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

// Far above what anything takes: a busy machine makes no failure.
const limitMs = 600_000

const startedMs = Date.now()
const folder = mkdtempSync(join(tmpdir(), 'stet-walk-'))
const clone = join(folder, 'stet')
execFileSync('git', ['clone', '-q', '.', clone])
const readme = readFileSync(join(clone, 'README.md'), 'utf8')

// Settings, not changes of the commands: another server may hold the default port of this machine. The two servers have an address
// each, and so each has a home with a login of its own.
const environment: NodeJS.ProcessEnv = { ...process.env, PORT: '0' }
delete environment['CI']

try {
  await withServer('server', clone, async (address) => {
    let answer = ''
    for (const command of commandsBehind('client')) answer = await run(command, clone, address)
    if (answer.trim().split(/\s+/).length < 5) throw new Error(`the last command answered only: ${answer}`)
  })
  // The command that starts this server makes the folder.
  const own = join(clone, 'my-bot')
  await withServer('own server', clone, async (address) => {
    writeBlock('prompts/support/triage.promptl', own)
    for (const command of commandsBehind('own client')) await run(command, own, address)
    writeBlock('app.mts', own)
    const [compile = '', start = ''] = commandsBehind('own application')
    await run(compile, own, address)
    const answer = await run(start, own, address)
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

async function run(command: string, cwd: string, address: string): Promise<string> {
  console.log(`$ ${command}`)
  const child = spawn('bash', ['-c', command], {
    cwd,
    env: {
      ...environment,
      STET_BASE_URL: address,
      XDG_CONFIG_HOME: join(cwd, '.home', 'config'),
      XDG_STATE_HOME: join(cwd, '.home', 'state'),
    },
    timeout: limitMs,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text)
    said += text
  })
  const [code, signal]: unknown[] = await once(child, 'close')
  if (code !== 0) throw new Error(`ended with ${code ?? signal}: ${command}`)
  return said
}

/** Starts the server of a block, does something with it, and ends it. */
async function withServer(name: string, cwd: string, use: (address: string) => Promise<void>): Promise<void> {
  const [command = ''] = commandsBehind(name)
  console.log(`$ ${command}`)
  const server = spawn('bash', ['-c', command], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // Not the end of the shell, which dies of the signal at once: every process that it started holds the two pipes until its own end.
  const closed = once(server, 'close')
  try {
    const address = await addressSaidBy(server)
    const { status } = await fetch(`${address}/ready`)
    if (status !== 200) throw new Error(`${address}/ready answered ${status}`)
    say(`${name} ready`)
    await use(address)
  } finally {
    endGroup(server)
    await closed
  }
}

/** Where the server is, in its own words: a port that was looked for before could be another's by now. */
function addressSaidBy(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no address after ${limitMs / 1000} s`)), limitMs)
    const settle = (act: () => void): void => {
      clearTimeout(timer)
      act()
    }
    for (const [stream, shown] of [
      [server.stdout, process.stdout],
      [server.stderr, process.stderr],
    ] as const) {
      let text = ''
      stream?.setEncoding('utf8').on('data', (more: string) => {
        shown.write(more)
        text += more
        const [, address] = /\b(?:listening on|API) +(http:\/\/[^/\s]+)[/\s]/.exec(text) ?? []
        if (address !== undefined) settle(() => resolve(address))
      })
    }
    server.once('close', (code, signal) => settle(() => reject(new Error(`the server ended with ${code ?? signal}`))))
  })
}

// The whole process group: the command line starts the package manager, which starts the server.
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGTERM')
  } catch {
    // nobody of it is left
  }
}
