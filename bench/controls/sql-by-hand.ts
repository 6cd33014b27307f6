/**
 * Control: the writes of `bench:writes` as plain SQL behind `node:http`, on a database opened as in stet. `POST
 * /<write>` runs one write. `POST /prepare` creates a draft to publish. GET returns the number of statements so far.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SqlQueries } from '../../packages/embedded-postgres/src/sql-session.ts'
import { openDatabase } from '../../packages/server/src/adapters/database/database.ts'
import { listen } from './listen.ts'

const silent = () => undefined
const directory = mkdtempSync(join(tmpdir(), 'stet-bench-sql-'))
const url = process.env['DATABASE_URL']
const database = await openDatabase({
  ...(url === undefined ? {} : { url }),
  directory: join(directory, 'db'),
  packageRoot: fileURLToPath(new URL('../../packages/server', import.meta.url)),
  sharing: 'none',
  silenceMs: 30_000,
  storesFor: () => undefined,
  log: { debug: silent, info: silent, warn: silent, error: silent },
})
const [conversation, evaluation, version, document] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
const hash = 'a'.repeat(64)
const config = JSON.stringify({ provider: 'openai', model: 'bench' })
const messages = JSON.stringify([{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }])
const openEnd = 2_147_483_647
await database.session.script(`
  INSERT INTO workspace (name) VALUES ('bench');
  INSERT INTO author (workspace_id, name, email) VALUES (1, 'bench', 'bench@localhost');
  INSERT INTO project (workspace_id, name) VALUES (1, 'bench');
  INSERT INTO version (uuid, project_id, author_id, title, number) VALUES ('${version}', 1, 1, 'live', 1);
  INSERT INTO version (uuid, project_id, author_id, title) VALUES ('${randomUUID()}', 1, 1, 'draft');
  UPDATE project SET live_version_id = 1;
  INSERT INTO evaluation (uuid, workspace_id, project_id, name, metric, configuration, created_at, updated_at)
    VALUES ('${evaluation}', 1, 1, 'bench', 'rating', '{}', now(), now());
  INSERT INTO conversation (uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, origin, config, status)
    VALUES ('${conversation}', 1, 1, '${version}', '${document}', 'bench', '${hash}', 'log', '{}', 'completed');`)

let made = 0
let number = 1
const drafts: number[] = []

const writes: Record<string, (sql: SqlQueries, body: Record<string, unknown>) => Promise<unknown>> = {
  'get-or-create': async (sql, { path, prompt }) => {
    await sql.query(`SELECT id FROM version WHERE id = $1 AND number IS NULL`, [2])
    await saveDraft(sql, 2, path, prompt, 'NOTHING')
    return sql.query(`UPDATE project SET last_edited_at = now() WHERE id = 1`)
  },
  update: async (sql, { path, prompt }) => {
    await sql.query(`SELECT id FROM version WHERE id = $1 AND number IS NULL`, [2])
    await saveDraft(sql, 2, path, prompt, 'UPDATE SET content = excluded.content, updated_at = now()')
    return sql.query(`UPDATE project SET last_edited_at = now() WHERE id = 1`)
  },
  prepare: async (sql, { path, prompt }) => {
    const { rows } = await sql.query(
      `INSERT INTO version (uuid, project_id, author_id, title) VALUES ($1, 1, 1, 'draft') RETURNING id`,
      [randomUUID()],
    )
    const id = Number(rows[0]?.['id'])
    drafts.push(id)
    return saveDraft(sql, id, path, prompt, 'NOTHING')
  },
  publish: async (sql) => {
    const draft = drafts.shift()
    await sql.query(`SELECT id FROM project WHERE id = 1 FOR UPDATE`)
    await sql.query(`SELECT path, content_hash, base_hash FROM document WHERE version_id = $1 AND valid_from = 0`, [
      draft,
    ])
    number += 1
    await sql.query(
      `UPDATE document l SET valid_to = $2 FROM document d WHERE d.version_id = $1 AND d.valid_from = 0
         AND l.project_id = 1 AND l.path = d.path AND l.valid_to = ${openEnd}`,
      [draft, number],
    )
    await sql.query(
      `UPDATE document SET valid_from = $2, valid_to = ${openEnd} WHERE version_id = $1 AND valid_from = 0`,
      [draft, number],
    )
    await sql.query(`UPDATE version SET number = $2, merged_at = now() WHERE id = $1`, [draft, number])
    return sql.query(`UPDATE project SET live_version_id = $1, last_edited_at = now() WHERE id = 1`, [draft])
  },
  log: async (sql) => {
    const uuid = randomUUID()
    await sql.query(
      `INSERT INTO conversation (uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, origin,
         config, messages, status, epoch) VALUES ($1, 1, 1, $2, $3, 'bench', $4, 'log', $5::json, $6::json, 'completed', 0)`,
      [uuid, version, document, hash, config, messages],
    )
    return sql.query(
      `INSERT INTO log_entry (conversation_uuid, version_id, parameters, trace_id, prompt_span_id, completion_span_id)
       VALUES ($1, 1, '{}', $2, $3, $4) RETURNING id`,
      [uuid, hash.slice(32), hash.slice(48), hash.slice(48)],
    )
  },
  annotate: async (sql, { score }) => {
    await sql.query(`SELECT version_uuid, project_id FROM conversation WHERE uuid = $1 AND workspace_id = 1`, [
      conversation,
    ])
    await sql.query(`SELECT metric, configuration FROM evaluation WHERE uuid = $1 AND workspace_id = 1`, [evaluation])
    return sql.query(
      `INSERT INTO annotation (uuid, workspace_id, conversation_uuid, evaluation_uuid, version_uuid, author_id, score,
         normalized_score, has_passed, metadata, created_at) VALUES ($1, 1, $2, $3, $4, 1, $5, 50, true, '{}', now())`,
      [randomUUID(), conversation, evaluation, version, score],
    )
  },
}

function saveDraft(sql: SqlQueries, id: number, path: unknown, prompt: unknown, onConflict: string) {
  made += 1
  return sql.query(
    `INSERT INTO document (document_uuid, project_id, version_id, path, content, content_hash)
     VALUES ($1, 1, $2, $3, $4, $5) ON CONFLICT (version_id, path, valid_from) DO ${onConflict} RETURNING id`,
    [randomUUID(), id, path, prompt, `${hash}${made}`.slice(-64)],
  )
}

const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.end(String(database.statementCount()))
  let text = ''
  request.on('data', (part) => {
    text += String(part)
  })
  request.on('end', async () => {
    const write = writes[request.url?.slice(1) ?? '']
    const done = write && (await database.session.transaction((sql) => write(sql, JSON.parse(text))))
    response.writeHead(done ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(done ?? null))
  })
})
process.once('SIGTERM', async () => {
  server.closeAllConnections()
  await database.close()
  rmSync(directory, { recursive: true, force: true })
  process.exit(0)
})
listen(server)
