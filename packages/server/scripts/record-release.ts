/**
 * Records the data of a release, for the test that later builds lose none of it: the embedded database and the
 * PostgreSQL database of a server of that release, with the server's responses about them.
 *
 *     tsx scripts/record-release.ts <built checkout of the release> test/upgrade/<commit>
 *
 * Needs STET_TEST_DATABASE_URL, and `pg_dump` on PATH.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import pg from 'pg'

const [checkout = '', target = ''] = process.argv.slice(2)
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')

type Ask = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>

mkdirSync(target, { recursive: true })
const embedded = mkdtempSync(join(tmpdir(), 'stet-record-'))
await recordServer('embedded', embedded, {})
writeCompressed('embedded.tar.br', execFileSync('tar', ['-c', '-C', embedded, '.'], { maxBuffer: 1e9 }))

const database = new URL(process.env['STET_TEST_DATABASE_URL'] ?? '')
const name = `stet_record_${process.pid}`
const client = new pg.Client({ connectionString: database.href })
await client.connect()
await client.query(`CREATE DATABASE ${name}`)
database.pathname = `/${name}`
const settings = { DATABASE_URL: database.href, STET_ENCRYPTION_KEY: ENCRYPTION_KEY }
await recordServer('postgres', mkdtempSync(join(tmpdir(), 'stet-record-')), settings)
const dump = execFileSync('pg_dump', ['--inserts', '--no-owner', '-d', database.href], { encoding: 'utf8' })
// Lines that start with a backslash are psql commands, not SQL.
writeCompressed('postgres.sql.br', Buffer.from(dump.replace(/^\\.*$/gm, '')))
await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
await client.end()

async function recordServer(kind: string, dataDir: string, more: NodeJS.ProcessEnv): Promise<void> {
  const env = {
    ...process.env,
    ...more,
    PORT: '0',
    STET_DATA_DIR: dataDir,
    STET_LOG_LEVEL: 'error',
    STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  }
  const program = join(checkout, 'packages', 'server', 'bin', 'stet-server.mjs')
  const child = spawn(process.execPath, ['--expose-gc', program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    let said = ''
    while (!/listening on .*\n/.test(said)) said += String((await once(child.stdout, 'data'))[0])
    const [, key = ''] = /admin API key: (\S+)/.exec(said) ?? []
    const [, address = ''] = /listening on (\S+)/.exec(said) ?? []
    const answers = await record(askAt(address, key))
    writeFileSync(join(target, `${kind}.json`), `${JSON.stringify({ key, answers }, null, 1)}\n`)
  } finally {
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
  }
}

function askAt(address: string, key: string): Ask {
  return async (method, path, body) => {
    const response = await fetch(`${address}/api/v3${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }
}

/** Writes objects of every kind. @returns the responses to later reads, by path */
async function record(ask: Ask): Promise<Record<string, unknown>> {
  const { uuid: live } = await ask('POST', '/projects/1/versions', { name: 'first' })
  const path = (version: unknown) => `/projects/1/versions/${version}`
  const changes = [
    { path: 'support/reply', content: prompt('demo', 'Answer {{ customer }}.'), status: 'added' },
    { path: 'support/stored', content: prompt('stored', 'Hello'), status: 'added' },
  ]
  await ask('POST', `${path(live)}/push`, { changes })
  await ask('POST', `${path(live)}/publish`, { title: 'First', description: 'Of the recorded release' })
  const { uuid: draft } = await ask('POST', '/projects/1/versions', { name: 'open draft' })
  const edited = [{ path: 'support/reply', content: prompt('demo', 'Edited {{ customer }}.'), status: 'modified' }]
  await ask('POST', `${path(draft)}/push`, { changes: edited })

  const run = { path: 'support/reply', parameters: { customer: 'Ana' }, stream: false, customIdentifier: 'order-7' }
  const { uuid: conversation } = await ask('POST', `${path('live')}/documents/run`, run)
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'And now?' }] }]
  await ask('POST', `/conversations/${conversation}/chat`, { messages, stream: false })
  const scale = { projectId: 1, name: 'Helpful', metric: 'rating', configuration: { minRating: 1, maxRating: 5 } }
  const evaluation = await ask('POST', '/evaluations', scale)
  await ask('POST', `/conversations/${conversation}/evaluations/${evaluation['uuid']}/annotate`, { score: 4 })
  const log = await ask('POST', `${path('live')}/documents/logs`, { path: 'support/reply', messages, response: 'Sent' })
  const provider = { name: 'stored', provider: 'openai', token: 'recorded-token', url: 'http://127.0.0.1:9/v1' }
  const { id } = await ask('POST', '/provider-api-keys', provider)
  await ask('POST', '/api-keys', { name: 'reader', scopes: ['read'] })
  await ask('POST', '/projects', { name: 'Second' })

  const paths = [
    ...['/me', '/projects', '/projects/1/versions', path(live), path(draft), '/evaluations?projectId=1', '/api-keys'],
    ...[`${path(live)}/documents`, `${path(draft)}/documents`, `${path(draft)}/diff`, `/provider-api-keys/${id}`],
    ...['/conversations', `/conversations/${conversation}`, `/conversations/${conversation}/annotations`],
    `/conversations/${log['uuid']}`,
  ]
  const answers: Record<string, unknown> = {}
  for (const each of paths) answers[each] = await ask('GET', each)
  return answers
}

function prompt(provider: string, text: string): string {
  return `---\nprovider: ${provider}\nmodel: demo\n---\n<user>${text}</user>\n`
}

function writeCompressed(file: string, bytes: Buffer): void {
  const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_QUALITY } = constants
  const params = { [BROTLI_PARAM_QUALITY]: 11, [BROTLI_PARAM_LGWIN]: 24 }
  writeFileSync(join(target, file), brotliCompressSync(bytes, { params }))
  console.log(file, readFileSync(join(target, file)).length)
}
