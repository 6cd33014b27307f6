import { PushResult, Version, VersionDiff } from '@stet/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, createTestProject, openServer, type TestProject } from './scenario.ts'

let server: TestServer
let api: Api
let project: TestProject

beforeAll(async () => {
  ;({ server, api } = await openServer())
})
afterAll(() => server.close())
beforeEach(async () => {
  project = await createTestProject(api, { kept: 'kept', edited: 'one' })
})

describe('versions', () => {
  it('are listed with drafts first and can be filtered by status', async () => {
    const draft = await project.newDraft()
    const all = (await api('GET', `/projects/${project.id}/versions`)).body as unknown as Version[]
    expect(all.map(({ status }) => status)).toEqual(['draft', 'merged'])
    expect(draft).toContain(all[0]?.uuid)
    const merged = await api('GET', `/projects/${project.id}/versions?status=merged`)
    expect(merged.body).toMatchObject([{ uuid: project.draftUuid, version: 1, isLive: true }])
    expect((await api('GET', `/projects/${project.id}/versions?status=other`)).status).toBe(400)
    expect((await api('GET', `/projects/${project.id}/versions?status=draft&status=merged`)).status).toBe(400)
    expect((await api('GET', `/projects/${project.id}/versions?unknown=1`)).status).toBe(200)
  })

  it('are returned by uuid in any letter case, and as live', async () => {
    const live = await api('GET', `/projects/${project.id}/versions/live`)
    expect(Version.parse(live.body)).toEqual(live.body)
    const upper = await api('GET', `/projects/${project.id}/versions/${project.draftUuid.toUpperCase()}`)
    expect(upper.body).toEqual(live.body)
    for (const unknown of ['x', '00000000-0000-4000-8000-000000000000', '%00']) {
      const answer = await api('GET', `/projects/${project.id}/versions/${unknown}`)
      expect(refusalOf(answer)).toEqual({ status: 404, reason: 'unknown-version' })
    }
  })

  it('are pushed, compared, reverted and published', async () => {
    const draft = await project.newDraft()
    const changes = [
      { path: 'added', status: 'added', content: 'new' },
      { path: 'edited', status: 'modified', content: 'two' },
      { path: 'kept', status: 'deleted' },
      { path: 'nothing', status: 'unchanged' },
    ]
    const push = await api('POST', `${draft}/push`, { body: { changes } })
    expect(PushResult.parse(push.body)).toMatchObject({ documentsProcessed: 3, added: 1, modified: 1, deleted: 1 })
    expect(push.body['commitUuid']).toBe(push.body['versionUuid'])
    const diff = await api('GET', `${draft}/diff`)
    expect(VersionDiff.parse(diff.body).changes.map(({ path, status }) => [path, status])).toEqual([
      ['added', 'added'],
      ['edited', 'modified'],
      ['kept', 'deleted'],
    ])
    const revert = await api('POST', `${draft}/revert`, { body: { paths: ['kept', 'never'] } })
    expect(revert.body['reverted']).toMatchObject([{ path: 'kept', action: 'restored' }])
    const published = await api('POST', `${draft}/publish`, { body: { title: 'Second', description: 'Notes' } })
    expect(Version.parse(published.body)).toMatchObject({
      title: 'Second',
      description: 'Notes',
      version: 2,
      isLive: true,
    })
  })

  it('push nothing if one change is refused', async () => {
    const draft = await project.newDraft()
    const good = { path: 'good', status: 'added', content: 'x' }
    for (const bad of [
      { path: 'a b', status: 'added', content: 'x' },
      { path: 'good', status: 'added', content: 'twice' },
      { path: 'bad', status: 'added' },
      { path: 'bad', status: 'moved', content: 'x' },
      { path: 'bad', status: 'added', content: 'x'.repeat(262_145) },
    ]) {
      const answer = await api('POST', `${draft}/push`, { body: { changes: [good, bad] } })
      expect({ bad: bad.path, status: answer.status }).toEqual({ bad: bad.path, status: 400 })
    }
    expect((await api('GET', `${draft}/documents/good`)).status).toBe(404)
  })

  it('refuse every change once merged', async () => {
    for (const [path, body] of [
      ['push', { changes: [] }],
      ['revert', {}],
      ['documents', { path: 'x' }],
      ['documents/create-or-update', { path: 'x', prompt: 'y' }],
      ['documents/get-or-create', { path: 'x' }],
    ] as const) {
      const answer = await api('POST', `${project.live}/${path}`, { body })
      const reason = path === 'documents/create-or-update' ? 'merged-without-force' : 'merged-version'
      expect({ path, ...refusalOf(answer) }).toEqual({ path, status: 400, reason })
    }
    expect((await api('DELETE', `${project.live}/documents/unknown`)).status).toBe(400)
    expect((await api('POST', `${project.live}/documents/get-or-create`, { body: { path: 'kept' } })).status).toBe(200)
  })

  it('return the same error when publishing any version that is not a draft', async () => {
    const bodies = []
    for (const ref of ['live', project.draftUuid, 'x', '00000000-0000-4000-8000-000000000000']) {
      const { status, body } = await api('POST', `/projects/${project.id}/versions/${ref}/publish`)
      expect({ ref, status }).toEqual({ ref, status: 400 })
      bodies.push(body)
    }
    for (const body of bodies) expect(body).toEqual(bodies[0])
    expect(bodies[0]?.details).toMatchObject({ reason: 'not-a-draft' })
  })

  it('are not published while a prompt does not compile', async () => {
    const draft = await project.newDraft()
    await api('POST', `${draft}/documents`, { body: { path: 'broken', prompt: 'Hello {{ name' } })
    const { status, body } = await api('POST', `${draft}/publish`)
    expect(status).toBe(422)
    expect(body.details).toMatchObject({
      reason: 'draft-does-not-compile',
      documents: [{ path: 'broken', errors: [{ code: expect.any(String), line: 1 }] }],
    })
  })

  it('of another project return 404', async () => {
    const other = await createTestProject(api, { a: 'x' })
    expect((await api('GET', `/projects/${project.id}/versions/${other.draftUuid}`)).status).toBe(404)
    expect((await api('GET', `${project.live}/diff?base=${other.draftUuid}`)).status).toBe(404)
    expect((await api('GET', `${project.live}/diff?base=${'%00'}`)).status).toBe(400)
  })

  it('can be force-changed when live only with the scope publish', async () => {
    const issued = await api('POST', '/api-keys', { body: { name: 'writer', scopes: ['write'] } })
    const body = { path: 'edited', prompt: 'forced', force: true }
    const key = String(issued.body['key'])
    const refused = await api('POST', `${project.live}/documents/create-or-update`, { key, body })
    expect({ status: refused.status, details: refused.body.details }).toEqual({
      status: 403,
      details: { required: 'publish', reason: 'missing-publish-scope' },
    })
    expect((await api('POST', `${project.live}/documents/create-or-update`, { body })).status).toBe(200)
    expect((await api('GET', `${project.live}/documents/edited`)).body['content']).toBe('forced')
  })
})
