/** Requirements of some tests that a machine may lack. */
import { existsSync } from 'node:fs'
import { connect } from 'node:net'

export interface Missing {
  what: string
  /** How to get it. */
  advice: string
}

const runtimes = 'packages/sdk/test/runtimes'
const mcpClients = 'packages/server/test/clients/mcp'
const openaiClients = 'packages/server/test/clients/openai'
const shell = process.env['STET_TEST_HEADLESS_SHELL'] ?? '/usr/bin/chromium-headless-shell'
const browser = process.env['STET_TEST_CHROMIUM'] ?? '/usr/bin/chromium'

/** The requirements that `pnpm test` misses here: it leaves tests out or runs more slowly. */
export function missingForTests(environment = process.env): Missing[] {
  const found: Missing[] = []
  if (!environment['STET_TEST_DATABASE_URL'])
    found.push({
      what: 'PostgreSQL',
      advice: 'set STET_TEST_DATABASE_URL to a server on which databases may be created',
    })
  if (!environment['STET_TEST_REDIS_URL']) found.push({ what: 'Redis', advice: 'set STET_TEST_REDIS_URL' })
  if (!existsSync(shell))
    found.push({
      what: "Chromium's headless shell",
      advice: existsSync(browser)
        ? 'install chromium-headless-shell; the whole browser costs three times the processor time'
        : "install chromium-headless-shell to test the console's pages, the API reference and the SDK in a web page",
    })
  return found
}

/** The requirements without which `pnpm test:long` cannot run. */
export async function missingForRelease(): Promise<Missing[]> {
  const found = missingForTests()
  for (const name of ['STET_TEST_DATABASE_URL', 'STET_TEST_REDIS_URL']) {
    const address = process.env[name]
    if (address && !(await answers(address))) found.push({ what: `a server at ${name}`, advice: `start ${address}` })
  }
  if (!existsSync(browser)) found.push({ what: 'Chromium', advice: 'install chromium, or set STET_TEST_CHROMIUM' })
  if (!existsSync(`${runtimes}/node_modules`))
    found.push({
      what: 'Bun, Deno, workerd and older versions of Node',
      advice: `pnpm install --ignore-workspace --frozen-lockfile --dir ${runtimes}`,
    })
  if (!existsSync(`${mcpClients}/node_modules`))
    found.push({
      what: 'clients of MCP',
      advice: `pnpm install --ignore-workspace --frozen-lockfile --dir ${mcpClients}`,
    })
  if (!existsSync(`${openaiClients}/node_modules`))
    found.push({
      what: "clients of OpenAI's API",
      advice: `pnpm install --ignore-workspace --frozen-lockfile --dir ${openaiClients}`,
    })
  return found
}

function answers(address: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(address)
  const socket = connect(Number(port || (protocol === 'redis:' ? 6379 : 5432)), hostname)
  return new Promise<boolean>((resolve) => {
    socket.setTimeout(5_000, () => resolve(false))
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}
