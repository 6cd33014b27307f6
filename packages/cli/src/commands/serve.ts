import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defineCommand, hasFlag, textFlag } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { readCredentials, writeCredentials } from '../settings/credentials.ts'
import { isJsonObject, parseJsonObject } from '../settings/json-file.ts'
import { normalizeAddress } from '../settings/resolve.ts'

const serverPackage = '@stet/server'

interface ServeInput {
  port: string | undefined
  host: string | undefined
  data: string | undefined
  databaseUrl: string | undefined
  opensBrowser: boolean
}

export const command = defineCommand({
  summary: 'Starts a server on this machine and stays with it.',
  examples: ['stet serve', 'stet serve --port 9000 --data ./data'],
  flags: [
    { long: '--port', value: '<port>', variable: 'PORT', summary: 'port to listen on (8787)' },
    { long: '--host', value: '<address>', variable: 'HOST', summary: 'address to listen on (127.0.0.1)' },
    { long: '--data', value: '<folder>', variable: 'STET_DATA_DIR', summary: 'folder of the data (./.stet)' },
    {
      long: '--database-url',
      value: '<url>',
      variable: 'DATABASE_URL',
      summary: 'PostgreSQL instead of the own database',
    },
    { long: '--open', summary: 'show the API reference in a browser' },
  ],
  parse(raw): ServeInput {
    const port = textFlag(raw, 'port')
    if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536)) {
      throw new CliError('usage', `--port: a number up to 65535, not "${port}"`)
    }
    return {
      port,
      host: textFlag(raw, 'host'),
      data: textFlag(raw, 'data'),
      databaseUrl: textFlag(raw, 'databaseUrl'),
      opensBrowser: hasFlag(raw, 'open'),
    }
  },
  async run(input, ctx) {
    const { cwd } = ctx.io
    const host = input.host ?? ctx.io.env['HOST']
    if (host !== undefined && !['127.0.0.1', 'localhost', '::1'].includes(host)) {
      ctx.warn(`${host} can be reached from outside: put TLS in front, keys travel in clear text otherwise`)
    }
    const onListening = (address: string): void => {
      if (input.opensBrowser) openInBrowser(`${address}/docs`, ctx)
    }
    const server = { bin: await findServerBin(cwd), env: environmentOf(input, ctx) }
    return { exitCode: await runServer(server, onListening, ctx) }
  },
  exitCode: ({ exitCode }) => exitCode,
})

function environmentOf({ port, host, data, databaseUrl }: ServeInput, { io }: Context): NodeJS.ProcessEnv {
  return {
    ...io.env,
    ...(port !== undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
    ...(data !== undefined && { STET_DATA_DIR: data }),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }
}

// First the server of the project that the user stands in, then the one that came with this program.
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
  throw new CliError('unexpected', 'The server is not installed here', { hint: `npm install ${serverPackage}` })
}

function runServer(
  { bin, env }: { bin: string; env: NodeJS.ProcessEnv },
  onListening: (address: string) => void,
  ctx: Context,
): Promise<number> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [bin], { cwd: ctx.io.cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
    let firstKey: string | undefined
    let address: string | undefined
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ctx.io.out(text)
      firstKey ??= /stet_[0-9A-Za-z]{36}/.exec(text)?.[0]
      const heard = /stet listening on (\S+)/.exec(text)?.[1]
      if (heard && firstKey && !address) keepFirstKey(firstKey, heard, ctx).catch((error) => ctx.warn(String(error)))
      if (heard && !address) onListening(heard)
      address ??= heard
    })
    // In a terminal the child gets Ctrl-C by itself; this process only has to wait for it.
    const release = ctx.io.onInterrupt(() => {})
    const passOn = (): void => void child.kill('SIGTERM')
    process.on('SIGTERM', passOn)
    child.once('error', fail)
    child.once('close', (code, signal) => {
      release()
      process.off('SIGTERM', passOn)
      done(code ?? (signal === 'SIGTERM' ? 143 : 130))
    })
  })
}

// A machine without a browser serves all the same.
function openInBrowser(url: string, { io, warn }: Context): void {
  const openers: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
    darwin: ['open'],
    win32: ['cmd', '/c', 'start', ''],
  }
  const [program, ...args] = openers[io.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true, env: { ...io.env } })
  child.once('error', () => warn(`No browser was found for ${url}`))
  child.unref()
}

async function keepFirstKey(apiKey: string, address: string, ctx: Context): Promise<void> {
  const { credentialsFile } = await ctx.settings()
  const isKept = ctx.isInteractive && (await ctx.confirm('Keep the first API key as profile "local"?', '--yes'))
  if (!isKept) return
  const credentials = await readCredentials(credentialsFile, ctx.warn)
  credentials['local'] = { baseUrl: normalizeAddress(address), apiKey, keyName: 'first key' }
  await writeCredentials(credentialsFile, credentials)
  ctx.say(`${ctx.style.ok} Saved to profile local:  stet whoami --profile local`)
}
