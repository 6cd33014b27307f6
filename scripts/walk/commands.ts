import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

// Long enough that a busy machine does not fail the walk.
const limitMs = 600_000

const startedMs = Date.now()

// Environment variables avoid conflicts with other servers and logins, so the documented commands run unchanged. Each
// server gets a free port. Each folder gets its own login.
const environment: NodeJS.ProcessEnv = { ...process.env, PORT: '0' }
delete environment['CI']

export function say(text: string): void {
  console.log(`walk: ${text} ${((Date.now() - startedMs) / 1000).toFixed(1)} s after the first command`)
}

export async function run(command: string, cwd: string, more: NodeJS.ProcessEnv): Promise<string> {
  console.log(`$ ${command}`)
  const child = spawn('bash', ['-c', command], {
    cwd,
    env: {
      ...environment,
      XDG_CONFIG_HOME: join(cwd, '.home', 'config'),
      XDG_STATE_HOME: join(cwd, '.home', 'state'),
      ...more,
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

export async function withServer(
  command: string,
  cwd: string,
  use: (address: string) => Promise<void>,
  more: NodeJS.ProcessEnv = {},
): Promise<void> {
  console.log(`$ ${command}`)
  const server = spawn('bash', ['-c', command], {
    cwd,
    env: { ...environment, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // Waits for the pipes to close, not for the shell to exit. The shell exits immediately on the signal, but its child
  // processes keep the pipes open until they end.
  const closed = once(server, 'close')
  try {
    const address = await addressSaidBy(server)
    const { status } = await fetch(`${address}/ready`)
    if (status !== 200) throw new Error(`${address}/ready answered ${status}`)
    say('server ready')
    await use(address)
  } finally {
    endGroup(server)
    await closed
  }
}

/** Reads the address from the server's output. A port chosen in advance could be taken before the server starts. */
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

// Signals the whole process group, because the shell starts the package manager, which starts the server.
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGTERM')
  } catch {
    // The process has already ended.
  }
}
