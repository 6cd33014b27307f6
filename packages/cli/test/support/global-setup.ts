import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Stet } from '@stet/sdk'
import type { TestProject } from 'vitest/node'
import { startSilentProvider } from './provider.ts'
import { startServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    server: { address: string; adminKey: string }
    folder: string
  }
}

/** Starts one server for all files. Each file works in a project of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const provider = await startSilentProvider()
  const server = await startServer({ ...provider.env, STET_AUTH_FAILURE_LIMIT: '0' })
  const account = new Stet({ apiKey: server.adminKey, baseUrl: server.address })
  // The first key's rate limit is lower than what several files send at once.
  const { key } = await account.apiKeys.create({ name: 'admin', scopes: ['admin'], plan: 'custom', limit: 100_000 })
  project.provide('server', { address: server.address, adminKey: key })
  const folder = await mkdtemp(join(tmpdir(), 'stet-cli-'))
  project.provide('folder', folder)
  return async () => {
    provider.stop()
    await server.stop()
    await rm(folder, { recursive: true })
  }
}
