import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defined } from '@stet/template/defined'
import { version } from '../../../package.json' with { type: 'json' }
import { defineCommand } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { readCredentials, writeCredentials } from '../../settings/credentials.ts'
import { isJsonObject, parseJsonObject } from '../../settings/json-file.ts'
import { normalizeAddress } from '../../settings/resolve.ts'
import { openInBrowser } from '../../ui/open-browser.ts'
import { createSignInLink } from '../console/sign-in-link.ts'
import { runServer, type Started } from './server-process.ts'

const serverPackage = '@stet/server'

/** The commands that work before the first release. CONTRIBUTING.md lists what to change at the release. */
const SERVER_INSTALL =
  'the packages are not in the npm registry yet. In a clone of stet, run npx -y pnpm@10.34.9 release:pack. ' +
  `Here, run npm install <clone>/release/stet-server-${version}.tgz`

interface ServeInput {
  port: string | undefined
  host: string | undefined
  data: string | undefined
  databaseUrl: string | undefined
  opensBrowser: boolean
}

export const command = defineCommand({
  summary: 'Starts a server on this machine and runs until Ctrl-C.',
  examples: ['stet serve', 'stet serve --port 9000 --data ./data'],
  flags: {
    '--port <port> $PORT': 'port to listen on (8787)',
    '--host <address> $HOST': 'address to listen on (127.0.0.1)',
    '--data <folder> $STET_DATA_DIR': 'data folder (./.stet)',
    '--database-url <url> $DATABASE_URL': 'PostgreSQL server to use instead of the embedded database',
    '--open': 'open the console in a browser',
  },
  parse(raw): ServeInput {
    const port = raw.flags.port
    if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536)) {
      throw new CliError('usage', `--port must be a number up to 65535, not "${port}"`)
    }
    return {
      port,
      host: raw.flags.host,
      data: raw.flags.data,
      databaseUrl: raw.flags.databaseUrl,
      opensBrowser: raw.flags.open,
    }
  },
  async run(input, ctx) {
    const { cwd } = ctx.io
    const host = input.host ?? ctx.io.env['HOST']
    if (host !== undefined && !['127.0.0.1', 'localhost', '::1'].includes(host)) {
      ctx.warn(`${host} is reachable from other machines: put a proxy with TLS in front, or keys travel in clear text`)
    }
    const onStarted = (started: Started): void => {
      const warn = (error: unknown): void => ctx.warn(error instanceof Error ? error.message : String(error))
      const told = tell(started, input, ctx).catch(warn)
      // Last, because the key is never shown again.
      if (input.opensBrowser) told.then(() => openConsole(started, ctx)).catch(warn)
    }
    const server = { bin: await findServerBin(cwd), env: environmentOf(input, ctx) }
    return { exitCode: await runServer(server, onStarted, ctx) }
  },
  exitCode: ({ exitCode }) => exitCode,
})

function environmentOf({ port, host, data, databaseUrl }: ServeInput, { io }: Context): NodeJS.ProcessEnv {
  return {
    ...io.env,
    ...defined({ PORT: port, HOST: host, STET_DATA_DIR: data, DATABASE_URL: databaseUrl }),
  }
}

// Prefers the current project's server to the one installed with the CLI.
async function findServerBin(cwd: string): Promise<string> {
  for (const from of [pathToFileURL(join(cwd, 'package.json')).href, import.meta.url]) {
    for (const folder of createRequire(from).resolve.paths(serverPackage) ?? []) {
      const file = join(folder, serverPackage, 'package.json')
      const text = await readFile(file, 'utf8').catch(() => undefined)
      if (text === undefined) continue
      const bin = parseJsonObject(text, file)['bin']
      const way = isJsonObject(bin) ? bin['stet-server'] : bin
      if (typeof way === 'string') return join(dirname(file), way)
    }
  }
  throw new CliError('unexpected', 'The server package is not installed here', {
    hint: SERVER_INSTALL,
  })
}

/**
 * Opens the console, signed in with the first key or with the key of the login for this address. Without a key, the
 * console asks for one. A server without the console shows the API reference instead.
 */
async function openConsole({ address, news }: Started, ctx: Context): Promise<void> {
  if (!news.some((line) => line.startsWith('console: '))) return openInBrowser(`${address}/docs`, ctx)
  const apiKey = findFirstKey(news) ?? (await loginFor(address, ctx))
  const link = apiKey === undefined ? undefined : await signInLink(address, apiKey, ctx)
  await openInBrowser(link ?? `${address}/`, ctx)
}

async function signInLink(address: string, apiKey: string, ctx: Context): Promise<string | undefined> {
  try {
    return (await createSignInLink({ baseUrl: normalizeAddress(address), apiKey })).url
  } catch (error) {
    ctx.warn(`Not signed in: ${error instanceof Error ? error.message : error}`)
    return undefined
  }
}

async function loginFor(address: string, ctx: Context): Promise<string | undefined> {
  const { baseUrl, apiKey, credentialsFile } = await ctx.settings()
  if (baseUrl.value === normalizeAddress(address) && apiKey) return apiKey.value
  const local = (await readCredentials(credentialsFile, ctx.warn))[localProfile]
  return local?.baseUrl === normalizeAddress(address) ? local.apiKey : undefined
}

/** Prints the address. On a first start, also prints the key, which is never shown again. */
async function tell(started: Started, input: ServeInput, ctx: Context): Promise<void> {
  const { address, news } = started
  const { io, flags, style } = ctx
  const api = normalizeAddress(address)
  const data = describeData(input, ctx)
  ctx.say(`${style.ok} API   ${api}`)
  ctx.say(`${style.ok} Data  ${data} (schema up to date)`)
  const key = findFirstKey(news)
  for (const line of news) if (key === undefined || !line.includes(key)) ctx.say(line)
  const isKept = key !== undefined && (await keepOrShow(key, address, ctx))
  if (flags.json)
    io.out(`${JSON.stringify({ api, data, firstKey: key ?? null, profile: isKept ? localProfile : null })}\n`)
  else if (key !== undefined) {
    const where = isKept ? `; saved to profile ${localProfile}` : /; also in [^)]+/.exec(news.join('\n'))?.[0]
    ctx.warn(`First API key: ${key}  (shown once${where ?? ''})`)
    if (isKept) ctx.say(`  Try it:  stet whoami --profile ${localProfile}`)
  }
}

// If saving fails (canceled question, unwritable home), the key must still be printed.
async function keepOrShow(key: string, address: string, ctx: Context): Promise<boolean> {
  try {
    return await keepFirstKey(key, address, ctx)
  } catch (error) {
    ctx.warn(`The key was not saved: ${error instanceof Error ? error.message : error}`)
    return false
  }
}

// Returns only the parts of a database address that are not secret.
function describeData({ data, databaseUrl }: ServeInput, { io: { env } }: Context): string {
  const url = databaseUrl ?? env['DATABASE_URL']
  if (!url) return data ?? env['STET_DATA_DIR'] ?? './.stet'
  if (!URL.canParse(url)) return 'PostgreSQL'
  const { host, pathname } = new URL(url)
  return `PostgreSQL ${host}${pathname}`
}

/** `serve` saves a first key in this profile. */
export const localProfile = 'local'

/** Returns the first API key, or undefined. The server prints this key only on a first start. */
export function findFirstKey(news: readonly string[]): string | undefined {
  return /stet_[0-9A-Za-z]{36}/.exec(news.join('\n'))?.[0]
}

/** Saves the key if the user agrees or passed --yes. @returns whether the key was saved */
export async function keepFirstKey(apiKey: string, address: string, ctx: Context): Promise<boolean> {
  if (!ctx.isInteractive && !ctx.flags.yes) return false
  const { credentialsFile } = await ctx.settings()
  const before = (await readCredentials(credentialsFile, ctx.warn))[localProfile]
  const replaced = before ? ` It replaces the login for ${before.baseUrl}.` : ''
  if (!(await ctx.confirm(`Save the first API key in profile "${localProfile}"?${replaced}`, '--yes'))) return false
  // Reads the file again, because another login may have finished while the user was asked.
  const credentials = await readCredentials(credentialsFile, ctx.warn)
  credentials[localProfile] = { baseUrl: normalizeAddress(address), apiKey, keyName: 'admin' }
  await writeCredentials(credentialsFile, credentials)
  return true
}
