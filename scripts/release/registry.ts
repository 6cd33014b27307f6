/** An npm registry on loopback, for the packages of one dry run. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Packed } from './packages.ts'

const START_LIMIT_MS = 60_000

export interface Registry {
  url: string
  /** Publishes with npm. With a `tag` other than `latest`, npm does not install the version by default. */
  publish(packed: Packed, tag?: string): Promise<void>
  /** Makes npm use this registry for our packages in `folder`. Other packages come from npm's configured registry. */
  useIn(folder: string): void
  stop(): Promise<void>
}

export async function startRegistry(folder: string): Promise<Registry> {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'config.yaml')
  writeFileSync(config, CONFIG)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const child = spawn(
    process.execPath,
    ['--no-warnings', verdaccio(), '--config', config, '--listen', `127.0.0.1:${port}`],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  await answers(`${url}-/ping`, child)
  // npm requires a token to publish. The registry accepts any token.
  const npmrc = `@stet:registry=${url}\n//127.0.0.1:${port}/:_authToken=loopback\n`
  const useIn = (target: string) => writeFileSync(join(target, '.npmrc'), npmrc)
  useIn(folder)
  return {
    url,
    useIn,
    async publish({ tarball }, tag = 'latest') {
      // Provenance needs the identity of a CI run.
      const args = ['publish', tarball, '--tag', tag, '--registry', url, '--no-provenance']
      await promisify(execFile)('npm', args, { cwd: folder })
    },
    async stop() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}

// Other packages are not proxied, so that npm uses its warm cache.
const CONFIG = `
storage: ./storage
max_body_size: 50mb
packages:
  '@stet/*':
    access: $all
    publish: $all
    unpublish: $all
log: { type: stdout, level: error }
`

function verdaccio(): string {
  const require = createRequire(import.meta.url)
  return join(require.resolve('verdaccio/package.json'), '..', 'bin', 'verdaccio')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the registry ended with ${child.exitCode}`)
    if (
      await fetch(url).then(
        (response) => response.ok,
        () => false,
      )
    )
      return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`the registry does not answer at ${url}`)
}
