import { CreatedProject, PushResult, Version, VersionDiff } from '@stet/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { refusalOf } from './refusal-of.ts'
import { createTestProject, sharedServer, type TestProject } from './scenario.ts'

const { api } = await sharedServer()
let project: TestProject

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
})

describe('projects', () => {
  it('are created with a draft and no live version', async () => {
    const { status, body } = await api('POST', '/projects', { body: { name: 'First', defaultProvider: 'demo' } })
    expect(status).toBe(201)
    const { project, version } = CreatedProject.parse(body)
    expect(body).toEqual({ project, version })
    expect(project).toMatchObject({ name: 'First', defaultProvider: 'demo', defaultModel: null, liveVersionUuid: null })
    expect(version).toMatchObject({
      projectId: project.id,
      title: 'Initial version',
      message: 'Initial version',
      status: 'draft',
      version: null,
      isLive: false,
      userId: String(version.authorId),
    })
    const live = await api('GET', `/projects/${project.id}/versions/live`)
    expect(refusalOf(live)).toEqual({ status: 404, reason: 'nothing-live' })
  })

  it('are unknown by an id of any other form', async () => {
    for (const id of ['0', '-1', 'x', '1.5', '2147483648', '99999999999999999999', '01', '%00', '+1', '1e3']) {
      const answer = await api('GET', `/projects/${id}/versions`)
      expect({ id, ...refusalOf(answer) }).toEqual({ id, status: 404, reason: 'unknown-project' })
    }
  })
})
