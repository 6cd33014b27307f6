/** Days of stats are exact although the processes that sum them are killed. `pnpm check` proves it for one that is stopped. */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { postgresStatsStore } from '../../src/adapters/database/stores/stats-store.ts'
import type { Cell } from '../../src/features/stats/cell.ts'
import { createStatsDeps } from '../../src/features/stats/pieces.ts'
import { storeDays } from '../../src/features/stats/store-days.ts'
import { programEnd, startProgram } from '../support/child-program.ts'
import { isLong, report, seed, timeFor } from '../support/counts.ts'
import { openTestDatabase, silent } from '../support/database-open.ts'
import { seededRandom } from '../support/random.ts'
import { testDatabase } from '../support/test-database.ts'

const kills = 50
const facts = 100_000
const days = 40
const server = process.env['STET_TEST_DATABASE_URL']
const kinds = [{ kind: 'embedded', at: '' }, ...(server ? [{ kind: 'PostgreSQL', at: server }] : [])]

const project = `
  INSERT INTO workspace (name) VALUES ('w');
  INSERT INTO project (workspace_id, name) SELECT id, 'p' FROM workspace`
const batch = 2_000
const insertFrom = (first: number) => `
  INSERT INTO run_figure (run_uuid, at, project_id, document_uuid, version_uuid, model, via, status, duration_ms, first_token_ms,
    input_tokens, output_tokens, cached_tokens, cost_nano, usage_estimated)
  SELECT md5('r' || g)::uuid, date_trunc('day', now()) - ${days - 1} * interval '1 day' + g * interval '${(days - 1) * 86_400} s' / ${facts},
    p.id, md5('d' || g % 20)::uuid, md5('v' || g % 7)::uuid, 'model-' || g % 5, CASE WHEN g % 9 = 0 THEN 'console' ELSE 'api' END,
    CASE g % 50 WHEN 0 THEN 'error' WHEN 1 THEN 'stopped' ELSE 'completed' END, g % 90000, CASE WHEN g % 3 > 0 THEN g % 9000 END,
    g % 3000, g % 700, g % 11, CASE WHEN g % 13 > 0 THEN g % 3000000 END, g % 17 = 0
  FROM project p, generate_series(${first}, ${first + batch - 1}) g ON CONFLICT DO NOTHING`

const sums = `count(*)::int, count(*) FILTER (WHERE status = 'error')::int, count(*) FILTER (WHERE status = 'stopped')::int,
  count(*) FILTER (WHERE cost_nano IS NULL)::int, count(*) FILTER (WHERE usage_estimated)::int, sum(input_tokens)::int,
  sum(output_tokens)::int, sum(cached_tokens)::int, coalesce(sum(cost_nano), 0)::float8`

it.runIf(isLong).each(kinds)(
  '50 kills of two processes that sum 100,000 runs of 40 days change no sum ($kind)',
  async ({ at }) => {
    const target = await testDatabase(at)
    onTestFinished(() => target.close())
    const first = await openTestDatabase(target)
    await first.session.script(project)
    for (let from = 0; from < facts; from += batch) {
      // During a long checkpoint of the embedded database, statements are refused.
      await vi.waitFor(() => first.session.script(insertFrom(from)), { interval: 1_000, timeout: 600_000 })
    }
    await first.close()
    const random = seededRandom(seed)
    // The directory of the embedded database has one process at a time.
    const processes = at === '' ? 1 : 2
    for (let killed = 0; killed < kills; killed += processes) {
      const children = Array.from({ length: processes }, () => startProgram('days-child.ts', JSON.stringify(target)))
      const ends = children.map(programEnd)
      await Promise.race([...children.map((child) => child.stdout && once(child.stdout, 'data')), ...ends])
      await delay(random() * 3_000)
      for (const child of children) child.kill('SIGKILL')
      for (const end of ends) expect(await end).toMatchObject({ signal: 'SIGKILL', stderr: '' })
    }
    const { session, close } = await openTestDatabase(target)
    onTestFinished(close)
    const before = Number((await session.query('SELECT count(*)::int AS days FROM run_day')).rows[0]?.['days'])
    const stats = createStatsDeps(postgresStatsStore(session), (_asker, work) => work())
    await storeDays({ stats, logger: silent }, new AbortController().signal)
    const { rows } = await session.query(
      `SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, via, model, json_build_array(${sums})::text AS sums
       FROM run_figure WHERE at < date_trunc('day', now()) GROUP BY 1, 2, 3`,
    )
    const { rows: stored } = await session.query(
      `SELECT to_char(day, 'YYYY-MM-DD') AS day, cells::text AS cells FROM run_day WHERE scope = '' AND by = 'model'`,
    )
    const cells = new Map(stored.map(({ day, cells }) => [day, JSON.parse(String(cells)) as Cells]))
    const summed = rows.map(({ day, via, model }) => cells.get(day)?.[String(via)]?.[String(model)]?.[0])
    expect(summed).toEqual(rows.map((row) => JSON.parse(String(row['sums']))))
    expect(rows.length).toBe((days - 1) * 2 * 5)
    report(`kills of stats, ${at === '' ? 'embedded' : 'PostgreSQL'}`, { kills, rowsBefore: before })
  },
  timeFor(kills, 60_000),
)

type Cells = Record<string, Record<string, Cell>>
