import { CreatedProject, PushResult, Version } from '@stet/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { refusalOf } from './refusal-of.ts'
import { createTestProject, type TestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { api } = await sharedServer()
let project: TestProject

beforeEach(async () => {
  project = await createTestProject(api, { kept: 'kept', edited: 'one' })
})

describe('versions', () => {
  it('can be filtered by status, and ignore an unknown filter', async () => {
    await project.newDraft()
    const merged = await api('GET', `/projects/${project.id}/versions?status=merged&unknown=1`)
    expect(merged.body).toMatchObject([{ uuid: project.draftUuid, version: 1, isLive: true }])
    expect((await api('GET', `/projects/${project.id}/versions?status=other`)).status).toBe(400)
  })

  it('are returned by uuid in any letter case, and as live', async () => {
    const live = await api('GET', `/projects/${project.id}/versions/live`)
    expect(Version.parse(live.body)).toEqual(live.body)
    const upper = await api('GET', `/projects/${project.id}/versions/${project.draftUuid.toUpperCase()}`)
    expect(upper.body).toEqual(live.body)
  })

  it('count what a push changed, under both names of the version', async () => {
    const changes = [
      { path: 'added', status: 'added', content: 'new' },
      { path: 'edited', status: 'modified', content: 'two' },
      { path: 'kept', status: 'deleted' },
      { path: 'nothing', status: 'unchanged' },
    ]
    const { body } = await api('POST', `${await project.newDraft()}/push`, { body: { changes } })
    expect(PushResult.parse(body)).toMatchObject({ documentsProcessed: 3, added: 1, modified: 1, deleted: 1 })
    expect(body['commitUuid']).toBe(body['versionUuid'])
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
