/** A server whose project has many rows. SQL multiplies the rows between two starts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPglite } from '../../../packages/embedded-postgres/src/open-pglite.ts'
import { fillingStatements } from '../../../packages/server/test/support/filled-tables.ts'
import { openStet, runRequest, type Stet, seedStet } from '../subjects/candidates.ts'

export interface Filled extends Stet {
  /** The original conversation with a run. The copies were made from it. */
  conversationUuid: string
  evaluationUuid: string
  draftUuid: string
  /** The server's data folder. `close` removes it, and `end` keeps it. */
  dataDir: string
  end(): Promise<void>
}

/**
 * Starts a server on the embedded database.
 * @param rows the number of documents, of conversations and of logs.
 * @param versions the number of additional published versions.
 */
export async function startFilledStet(upstreamUrl: string, rows: number, versions: number): Promise<Filled> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stet-bench-'))
  const first = await openStet(upstreamUrl, dataDir)
  const headers = await seedStet(first.url)
  const call = caller(first.url, headers)
  const run = runRequest(false, headers)
  const ran = await call(run.path, JSON.parse(run.body ?? '{}'))
  const documents = '/api/v3/projects/1/versions/live/documents'
  await call(`${documents}/logs`, { path: 'bench', messages: [{ role: 'user', content: 'Hello' }] })
  const evaluation = await call('/api/v3/evaluations', { projectId: 1, name: 'bench', metric: 'rating' })
  await call(`/api/v3/conversations/${ran['uuid']}/evaluations/${evaluation['uuid']}/annotate`, { score: 3 })
  await first.close()

  await fill(join(dataDir, 'db'), { projectId: 1, path: 'bench', documents: rows, conversations: rows, versions })
  const subject = await openStet(upstreamUrl, dataDir)
  const draft = await caller(subject.url, headers)('/api/v3/projects/1/versions', { name: 'growth' })
  return {
    ...subject,
    headers,
    conversationUuid: String(ran['uuid']),
    evaluationUuid: String(evaluation['uuid']),
    draftUuid: String(draft['uuid']),
    dataDir,
    end: subject.close,
    close: async () => {
      await subject.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function fill(directory: string, filling: Parameters<typeof fillingStatements>[0]): Promise<void> {
  const database = await openPglite({ path: directory, owner: 'stet' })
  for (const statement of fillingStatements(filling)) await database.exec(statement)
  await database.close()
}

function caller(url: string, headers: Record<string, string>) {
  return async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Record<string, unknown>
  }
}
