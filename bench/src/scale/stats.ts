/**
 * `pnpm bench:stats`: questions about `ROWS` runs of 30 days (default: 1,000,000), on the embedded database, or on an empty
 * PostgreSQL database in `BENCH_DATABASE_URL`. Prints milliseconds, and the ratio to one indexed read in the same series.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../../../packages/server/src/adapters/database/database.ts'
import { postgresStatsStore } from '../../../packages/server/src/adapters/database/stores/stats-store.ts'
import { createStatsTurns } from '../../../packages/server/src/adapters/evaluation/thread-queue.ts'
import { createLiveCache } from '../../../packages/server/src/adapters/in-process/live-cache.ts'
import { storesFor } from '../../../packages/server/src/compose.ts'
import type { Stores } from '../../../packages/server/src/features/deps.ts'
import { createStatsDeps } from '../../../packages/server/src/features/stats/pieces.ts'
import { readStats } from '../../../packages/server/src/features/stats/read-stats.ts'
import { storeDays } from '../../../packages/server/src/features/stats/store-days.ts'

const rows = Number(process.env['ROWS'] ?? 1_000_000)
const repeats = Number(process.env['ROUNDS'] ?? 20)
const databaseUrl = process.env['BENCH_DATABASE_URL']
const dayMs = 86_400_000
const logger = { debug() {}, info() {}, warn() {}, error() {} }

const directory = mkdtempSync(join(tmpdir(), 'stet-bench-'))
const database = await openDatabase<Stores>({
  ...(databaseUrl !== undefined && { url: databaseUrl }),
  directory: join(directory, 'db'),
  packageRoot: fileURLToPath(new URL('../../../packages/server/', import.meta.url)),
  sharing: 'all',
  silenceMs: 600_000,
  storesFor,
  log: logger,
})
const { session, stores } = database
const stats = createStatsDeps(postgresStatsStore(session), createStatsTurns().take)
const { signal } = new AbortController()
const deps = { stores, stats, logger, liveCache: createLiveCache() }

// 200 prompts of which few run often, 40 versions one after the other, 5 models, one run in ten from the console.
await session.query(`INSERT INTO workspace (name) VALUES ('bench')`)
await session.query(`INSERT INTO project (workspace_id, name) SELECT id, 'bench' FROM workspace`)
const [row] = (await session.query('SELECT id, workspace_id AS "workspaceId" FROM project')).rows
const projectId = Number(row?.['id'])
// Without its prompt, a question about one reads no facts.
const document = '00000000-0000-4000-8000-000000000000'
await session.query(
  `WITH writer AS (INSERT INTO author (workspace_id, name, email) SELECT id, 'b', 'b@example.com' FROM workspace RETURNING id),
     draft AS (INSERT INTO version (uuid, project_id, author_id, title) SELECT gen_random_uuid(), p.id, w.id, 'bench'
       FROM project p, writer w RETURNING id, project_id)
   INSERT INTO document (document_uuid, project_id, version_id, path, content, content_hash)
   SELECT $1::uuid, project_id, id, 'bench', '', '' FROM draft`,
  [document],
)
// A longer statement would look like a database that does not answer.
const batch = 2_000
for (let from = 0; from < rows; ) {
  const inserted = session.query(
    `INSERT INTO run_figure (run_uuid, at, project_id, document_uuid, version_uuid, model, via, status, duration_ms, first_token_ms,
       input_tokens, output_tokens, cached_tokens, cost_nano, usage_estimated)
     SELECT gen_random_uuid(), now() - interval '30 days' + (g::float8 / $2) * interval '30 days', $1::int,
       ('00000000-0000-4000-8000-' || lpad(to_hex(floor(200 * power(random(), 2.2))::int), 12, '0'))::uuid,
       ('00000000-0000-4000-9000-' || lpad(to_hex((g::bigint * 40 / $2)::int), 12, '0'))::uuid,
       'model-' || floor(random() * 5)::int, CASE WHEN random() < .1 THEN 'console' ELSE 'api' END,
       CASE WHEN random() < .96 THEN 'completed' WHEN random() < .5 THEN 'error' ELSE 'stopped' END,
       exp(6.5 + random() * 2.5)::int, exp(5 + random() * 2)::int, 200 + (random() * 3000)::int, 20 + (random() * 600)::int, 0,
       (random() * 3e6)::bigint, false
     FROM generate_series($3::int, $4::int) g`,
    [projectId, rows, from, Math.min(rows, from + batch) - 1],
  )
  // During a checkpoint on a slow disk, the embedded database refuses statements.
  const isInserted = await inserted.then(
    () => true,
    () => pause(1_000, false),
  )
  if (isInserted) from += batch
}
await session.query('ANALYZE run_figure')

const storing = performance.now()
// The pauses between days do not keep a process alive, and the embedded database has no connection that does.
const alive = setInterval(() => undefined, 1_000)
await storeDays(deps, signal)
clearInterval(alive)
console.log(`stats, ${rows} runs: stored all ended days in ${seconds(storing)} s, half of it pauses`)

const caller = {
  ...{ apiKeyId: 1, workspaceId: Number(row?.['workspaceId']), author: { id: 1, name: 'b', email: 'b@example.com' } },
  ...{ scopes: ['admin' as const], projectId: null, limit: 1_000, expiresAt: null, sessionId: null },
}
const ranges = { '3 hours': 3 * 3_600_000, '24 hours': dayMs, '48 hours': 2 * dayMs, '30 days': 30 * dayMs }
const control = await median(() => stats.store.look(projectId))
for (const [name, lengthMs] of Object.entries(ranges)) {
  for (const by of ['none', 'prompt', 'version', 'model'] as const) {
    for (const documentUuid of by === 'prompt' ? [undefined] : [undefined, document]) {
      const ask = () => {
        const to = new Date()
        return readStats(deps, {
          caller,
          projectId,
          by,
          documentUuid,
          from: new Date(to.getTime() - lengthMs),
          to,
          signal,
        })
      }
      stats.pieces.clear()
      const start = performance.now()
      await ask()
      const firstMs = performance.now() - start
      const { ms, p95, cpuMs } = await median(ask)
      const subject = documentUuid === undefined ? `by ${by}` : `of a prompt by ${by}`
      console.log(
        `stats, ${name} ${subject}: first ${Math.round(firstMs)} ms, then ${Math.round(ms)} ms (p95 ${Math.round(p95)}), CPU of this process ${Math.round(cpuMs)} ms, ${Math.round(ms / control.ms)}x an indexed read`,
      )
    }
  }
}
await database.close()
rmSync(directory, { recursive: true, force: true })

async function median(work: () => Promise<unknown>): Promise<{ ms: number; p95: number; cpuMs: number }> {
  const times: number[] = []
  const cpu = process.cpuUsage()
  for (let round = 0; round < repeats; round += 1) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  const { user, system } = process.cpuUsage(cpu)
  times.sort((one, other) => one - other)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0
  return { ms: at(0.5), p95: at(0.95), cpuMs: (user + system) / 1_000 / repeats }
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10
}
