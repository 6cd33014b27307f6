/** Servers on one new PostgreSQL database: one alone, or several with Redis. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import { openStet, seedStet } from '../subjects/candidates.ts'
import type { Subject } from '../subjects/subject.ts'

export interface Servers {
  name: string
  servers: readonly [Subject, ...Subject[]]
  headers: Record<string, string>
  close(): Promise<void>
}

const databaseUrl = process.env['BENCH_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const redisUrl = process.env['BENCH_REDIS_URL'] ?? 'redis://127.0.0.1:6379'

/** @param count 0 starts one server without Redis. */
export async function startServers(upstreamUrl: string, count: number): Promise<Servers> {
  const id = `bench_${randomBytes(4).toString('hex')}`
  await executeSql(`CREATE DATABASE ${id}`)
  const url = new URL(databaseUrl)
  url.pathname = `/${id}`
  const folder = mkdtempSync(join(tmpdir(), 'stet-bench-'))
  const environment = {
    DATABASE_URL: url.href,
    STET_DRAIN_DELAY_MS: '0',
    ...(count > 0 && { REDIS_URL: redisUrl, STET_REDIS_PREFIX: id }),
  }
  const start = (place: number) => {
    const dataDir = join(folder, String(place))
    mkdirSync(dataDir)
    return openStet(upstreamUrl, dataDir, environment)
  }
  const first = await start(0)
  const headers = await seedStet(first.url)
  const others = await Promise.all(Array.from({ length: Math.max(0, count - 1) }, (_, place) => start(place + 1)))
  const servers: Servers['servers'] = [first, ...others]
  return {
    name: count === 0 ? 'single' : `scaled, ${count}`,
    servers,
    headers,
    async close() {
      await Promise.all(servers.map((server) => server.close()))
      await executeSql(`DROP DATABASE ${id} WITH (FORCE)`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function executeSql(sql: string): Promise<void> {
  const adapter = await new PrismaPg({ connectionString: databaseUrl }).connect()
  await adapter.executeScript(sql)
  await adapter.dispose()
}
