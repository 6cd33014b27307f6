/** Runs two processes on one PostgreSQL without Redis: one serves, one waits. They must never serve concurrently. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { type ApiAnswer, apiCaller, httpCall } from '../http/api-call.ts'
import { createTestProject, issueKey, type TestProject } from '../http/scenario.ts'
import { prompt, record } from '../runs/run-bench.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { isSkippedWithoutServer, onServer } from '../support/database-server.ts'
import { gate } from '../support/gate.ts'
import { processTestMs, type ServerProcess } from '../support/server-process.ts'
import { serverProcesses } from '../support/server-processes.ts'

const adminKey = generateApiKey()
const needsServer = isSkippedWithoutServer('the single replica lock with two processes')

const { storage, fake, start, startWaiting } = serverProcesses(adminKey)

const query = (sql: string, params: unknown[] = []) =>
  onServer(storage().databaseUrl ?? '', async (client) => (await client.query(sql, params)).rows as { pid: number }[])

const lockHolders = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = ${0x73746574}
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** Terminates the session that owns the lock until the waiting server acquires it first. */
async function killLockUntilOtherHasIt(): Promise<void> {
  const waitingSession = `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
    AND query LIKE 'SELECT pg_try_advisory_lock%'`
  const [waiting] = await query(waitingSession)
  for (;;) {
    const [holder] = await query(lockHolders)
    if (waiting && holder?.pid === waiting.pid) return
    await query('SELECT pg_terminate_backend($1)', [holder?.pid ?? 0])
    await delay(20)
  }
}

const statusAt = (url: string) =>
  fetch(url).then(
    ({ status }) => status,
    () => undefined,
  )

function askWithoutEnd(url: string, key: string) {
  const answers: { sentAt: number; status: number; text: string }[] = []
  let isStopped = false
  const ask = async () => {
    while (!isStopped) {
      const sentAt = performance.now()
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(url, { headers }).catch(() => undefined)
      const text = await response?.text().catch(() => '')
      if (response) answers.push({ sentAt, status: response.status, text: text ?? '' })
      else await delay(20)
    }
  }
  const asking = Promise.all([ask(), ask(), ask()])
  return {
    answers,
    async stop() {
      isStopped = true
      await asking
    },
  }
}

async function heldRun(server: ServerProcess, live: string) {
  const calls = fake().requests.length
  const { opened, open: goOn } = gate()
  fake().enqueue({ text: 'Through it all.', gate: opened })
  const stream = await fetch(`${server.url}/api/v3${live}/documents/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ path: 'hello', stream: true }),
  })
  await fake().waitForRequest(calls + 1)
  return { stream, goOn }
}

/**
 * Sends a run without the last byte of its body. `finish` sends that byte and resolves with the response's first line.
 */
async function slowRun(server: ServerProcess, live: string) {
  const body = JSON.stringify({ path: 'hello' })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8')
  const head = [
    `POST /api/v3${live}/documents/run HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${adminKey}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  expect((await once(socket, 'data'))[0]).toMatch(/^HTTP\/1.1 100/)
  socket.write(body.slice(0, -1))
  return {
    async finish() {
      socket.write(body.slice(-1))
      const [answer] = (await once(socket, 'data')) as [string]
      socket.destroy()
      return answer.slice(0, answer.indexOf('\r\n'))
    },
  }
}

async function changeLive(answerOf: ReturnType<typeof apiCaller>, project: TestProject, content: string) {
  const created = await answerOf('POST', `/projects/${project.id}/versions`, { body: { name: 'changed' } })
  const draft = `/projects/${project.id}/versions/${String(created.body['uuid'])}`
  const changes = [{ path: 'hello', content, status: 'modified' }]
  for (const answer of [
    await answerOf('POST', `${draft}/push`, { body: { changes } }),
    await answerOf('POST', `${draft}/publish`),
  ]) {
    expect(answer).toMatchObject({ status: 200 })
  }
}

describe.skipIf(needsServer)('single replica lock', { timeout: processTestMs }, () => {
  it('loses the lock to another server under load: returns no stale response, lets its runs end and exits', async () => {
    const first = await start()
    const admin = apiCaller(first.url, adminKey)
    const project = await createTestProject(admin, { hello: prompt('<user>old text</user>') })
    const limits = { plan: 'custom', limit: 100_000 }
    const key = await issueKey(admin, { scopes: ['read'], ...limits })
    const revoked = await admin('POST', '/api-keys', { body: { name: 'r', scopes: ['read'], ...limits } })
    const { stream, goOn } = await heldRun(first, project.live)
    const document = `/api/v3${project.live}/documents/hello`
    const readers = [askWithoutEnd(`${first.url}${document}`, key), askWithoutEnd(`${first.url}/ready`, key)]
    const withRevoked = askWithoutEnd(`${first.url}${document}`, String(revoked.body['key']))
    const slow = await slowRun(first, project.live)
    const superseded = new Promise<void>((resolve) => {
      first.child.stderr?.on('data', (text: Buffer) => text.includes('replica-lock-taken-by-other') && resolve())
    })
    const next = await startWaiting()
    await killLockUntilOtherHasIt()
    await next.serving

    const successor = apiCaller(next.url, adminKey)
    expect(await successor('DELETE', `/api-keys/${String(revoked.body['id'])}`)).toMatchObject({ status: 200 })
    const revokedAt = performance.now()
    await changeLive(successor, project, prompt('<user>new text</user>'))
    const changedAt = performance.now()
    const calls = fake().requests.length
    expect(await slow.finish()).toBe('HTTP/1.1 503 Service Unavailable')
    expect(fake().requests).toHaveLength(calls)
    await delay(1_000)
    // The supervisor sends SIGTERM while the server already drains. It still counts as the first signal.
    await superseded
    first.child.kill('SIGTERM')
    await delay(100)
    goOn()
    expect((await record(stream)).last).toMatchObject({ type: 'chain-completed' })
    const { code } = await first.ended
    for (const asking of [...readers, withRevoked]) await asking.stop()

    expect(code).toBe(1)
    const [documents, ready] = readers.map(({ answers }) => answers)
    expect(documents?.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    const stale = [
      ...(documents ?? []).filter(({ sentAt, text }) => sentAt > changedAt && text.includes('old text')),
      ...withRevoked.answers.filter(({ sentAt, status }) => sentAt > revokedAt && status === 200),
      ...(ready ?? []).filter(({ sentAt, status }) => sentAt > revokedAt && status === 200),
    ]
    expect(stale).toEqual([])
    const uuid = stream.headers.get('x-conversation-uuid') ?? ''
    expect((await successor('GET', `/conversations/${uuid}`)).body).toMatchObject({ status: 'completed' })
  })

  it('reacquires a lost lock and reloads cached data if no other server took it', async () => {
    const server = await start()
    const admin = apiCaller(server.url, adminKey)
    const key = await issueKey(admin, { scopes: ['read'] })
    const me = () => apiCaller(server.url, key)('GET', '/me')
    expect(await me()).toMatchObject({ status: 200 })
    // Writes directly to the database, as another server could have done meanwhile.
    await query(`UPDATE api_key SET revoked_at = now() WHERE name = 'test'`)
    expect(await me()).toMatchObject({ status: 200 })
    await query(`SELECT pg_terminate_backend(pid) FROM (${lockHolders}) AS held`)
    await expect.poll(async () => (await me()).status).toBe(401)
    await expect.poll(() => statusAt(`${server.url}/ready`)).toBe(200)
    expect(await admin('GET', '/me')).toMatchObject({ status: 200 })
  })

  it('replaces a connection that broke unnoticed, although the database still counts it', async () => {
    const proxy = await startDatabaseProxy(storage().databaseUrl ?? '')
    const server = await start({ DATABASE_URL: proxy.url })
    const before = await query(lockHolders)
    expect(before).toHaveLength(1)
    proxy.forgetClients()
    await expect.poll(async () => (await query(lockHolders))[0]?.pid !== before[0]?.pid).toBe(true)
    await expect.poll(() => statusAt(`${server.url}/ready`)).toBe(200)
    expect(await apiCaller(server.url, adminKey)('GET', '/me')).toMatchObject({ status: 200 })
    server.child.kill('SIGKILL')
    await server.ended
    await proxy.goAway()
  })
})

describe.skipIf(needsServer)('server that waits for the lock', { timeout: processTestMs }, () => {
  it('is live but not ready, refuses API requests in the documented format, and later serves on the same address', async () => {
    const first = await start()
    const next = await startWaiting()
    const refused = (answer: ApiAnswer) => {
      expect(answer).toMatchObject({
        status: 503,
        body: { name: 'ServiceUnavailableError', errorCode: 'ServiceUnavailableError' },
      })
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    expect(await statusAt(`${next.url}/health`)).toBe(200)
    expect(await httpCall('GET', `${next.url}/ready`)).toMatchObject({
      status: 503,
      body: { details: { checks: { onlyReplica: false, database: true } } },
    })
    refused(await apiCaller(next.url, adminKey)('GET', '/me'))
    refused(await apiCaller(next.url, 'no-key')('GET', '/me'))
    expect(await apiCaller(first.url, adminKey)('GET', '/me')).toMatchObject({ status: 200 })
    first.child.kill('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 0 })
    expect(await next.serving).toBe(next.url)
    expect(await statusAt(`${next.url}/ready`)).toBe(200)
    expect(await apiCaller(next.url, adminKey)('GET', '/me')).toMatchObject({ status: 200 })
  })

  it('serves as soon as the first server stops accepting work, while that one finishes its runs', async () => {
    const first = await start()
    const admin = apiCaller(first.url, adminKey)
    const { live } = await createTestProject(admin, { hello: prompt('<user>Hi</user>') })
    const { stream, goOn } = await heldRun(first, live)
    const next = await startWaiting()
    first.child.kill('SIGTERM')
    await next.serving
    const successor = apiCaller(next.url, adminKey)
    const uuid = stream.headers.get('x-conversation-uuid') ?? ''
    expect((await successor('GET', `/conversations/${uuid}`)).body).toMatchObject({ status: 'running' })
    goOn()
    expect((await record(stream)).last).toMatchObject({ type: 'chain-completed' })
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' })
    expect((await successor('GET', `/conversations/${uuid}`)).body).toMatchObject({ status: 'completed' })
  })

  it('exits with 0 on SIGTERM', async () => {
    await start()
    const next = await startWaiting()
    next.child.kill('SIGTERM')
    expect(await next.ended).toMatchObject({ code: 0, stderr: '' })
  })
})
