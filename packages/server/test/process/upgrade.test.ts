/** Data of earlier releases, recorded by scripts/record-release.ts, opens under this build with nothing lost. */
import { execFileSync } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { apiCaller } from '../http/api-call.ts'
import { onServer, withDatabase } from '../support/database-server.ts'
import { recordedReleases } from '../support/recorded-releases.ts'
import { processTestMs, type ServerProcess, startServer } from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const postgres = process.env['STET_TEST_DATABASE_URL']

interface Recording {
  key: string
  answers: Record<string, unknown>
}

let server: ServerProcess | undefined
let dropDatabase = (): Promise<unknown> => Promise.resolve()
afterEach(async () => {
  server?.child.kill('SIGTERM')
  await server?.ended
  await dropDatabase()
})

const kind = postgres ? 'postgres' : 'embedded'
const releases = recordedReleases(`${kind}.json`)

it('needs a recording as soon as a migration is released', () => {
  expect(() => recordedReleases('missing.json', { first: 'hash' })).toThrow('No release has missing.json')
})

it.each(releases)(
  `opens the ${kind} database of release $release`,
  async ({ folder }) => {
    const { key, answers }: Recording = JSON.parse(await readFile(join(folder, `${kind}.json`), 'utf8'))
    server = await startServer(await restored(folder))
    expect(server.stdout).not.toContain('created workspace')
    const call = apiCaller(server.url, key)
    for (const [path, answer] of Object.entries(answers)) {
      const { status, body } = await call('GET', path)
      // Newer releases may add keys.
      expect({ path, status, body }).toMatchObject({ path, status: 200, body: forgetUse(answer) })
    }

    const live = '/projects/1/versions/live/documents'
    const answered = await call('POST', `${live}/run`, {
      body: { path: 'support/reply', parameters: { customer: 'Bo' } },
    })
    expect(answered).toMatchObject({ status: 200, text: expect.stringContaining('Answer Bo.') })
    // Reaches the provider's address, which refuses connections: the stored token was decrypted.
    const stored = await call('POST', `${live}/run`, { body: { path: 'support/stored' } })
    expect(stored.text).toContain('The provider cannot be reached')
  },
  processTestMs,
)

/** Restores the recorded data. @returns the settings of a server for it */
async function restored(folder: string): Promise<Record<string, string>> {
  const dataDir = await temporaryFolder()
  const settings = {
    STET_DATA_DIR: dataDir,
    PORT: '0',
    STET_LOG_LEVEL: 'error',
    STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  }
  if (!postgres) {
    const archive = brotliDecompressSync(await readFile(join(folder, 'embedded.tar.br')))
    await mkdir(dataDir, { recursive: true })
    execFileSync('tar', ['-x', '-C', dataDir], { input: archive })
    return settings
  }
  const name = `stet_upgrade_${process.pid}`
  await onServer(postgres, (client) => client.query(`CREATE DATABASE ${name}`))
  dropDatabase = () => onServer(postgres, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  const url = withDatabase(postgres, name)
  const dump = brotliDecompressSync(await readFile(join(folder, 'postgres.sql.br'))).toString()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(dump)
  await client.end()
  // The key of the recording.
  const STET_ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
  return { ...settings, DATABASE_URL: url, STET_ENCRYPTION_KEY, STET_DRAIN_DELAY_MS: '0' }
}

/** Removes the times that change by the test's own requests. */
function forgetUse(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (name, value) => (name === 'lastUsedAt' ? undefined : value))
}
