import { CreatedProject, Project } from '@stet/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { refusalOf } from './refusal-of.ts'
import { type Api, openServer } from './scenario.ts'

let server: TestServer
let api: Api

beforeAll(async () => {
  ;({ server, api } = await openServer())
})
afterAll(() => server.close())

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

  it('are changed field by field, and "" clears a default', async () => {
    const created = CreatedProject.parse(
      (await api('POST', '/projects', { body: { name: 'A', defaultModel: 'm' } })).body,
    )
    const path = `/projects/${created.project.id}`
    const renamed = await api('PUT', path, { body: { name: 'B' } })
    expect(Project.parse(renamed.body)).toMatchObject({ name: 'B', defaultModel: 'm' })
    const cleared = await api('PUT', path, { body: { defaultModel: '' } })
    expect(cleared.body).toMatchObject({ name: 'B', defaultModel: null })
  })

  it('are listed with the last edited first', async () => {
    const one = CreatedProject.parse((await api('POST', '/projects', { body: { name: 'one' } })).body)
    const two = CreatedProject.parse((await api('POST', '/projects', { body: { name: 'two' } })).body)
    const ids = async () => {
      const { body } = await api('GET', '/projects')
      return (body as unknown as Project[])
        .map(({ id }) => id)
        .filter((id) => id === one.project.id || id === two.project.id)
    }
    expect(await ids()).toEqual([two.project.id, one.project.id])
    const edit = { path: 'a', prompt: 'x' }
    await api('POST', `/projects/${one.project.id}/versions/${one.version.uuid}/documents`, { body: edit })
    expect(await ids()).toEqual([one.project.id, two.project.id])
  })

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 'x'.repeat(257) }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'a', defaultModel: 1 }, 'defaultModel'],
  ])('refuse %o with 400 and create nothing', async (body, key) => {
    const count = async () => ((await api('GET', '/projects')).body as unknown as unknown[]).length
    const before = await count()
    const answer = await api('POST', '/projects', { body })
    expect(refusalOf(answer)).toEqual({ status: 400, reason: 'invalid-body', path: key })
    expect(await count()).toBe(before)
  })

  it('accept a name of 256 characters', async () => {
    expect((await api('POST', '/projects', { body: { name: '😀'.repeat(256) } })).status).toBe(201)
  })

  it.each(['0', '-1', 'x', '1.5', '2147483648', '99999999999999999999', '01', '%00', '+1', '1e3'])(
    'return 404 for the id %s',
    async (id) => {
      const answer = await api('GET', `/projects/${id}/versions`)
      expect(refusalOf(answer)).toEqual({ status: 404, reason: 'unknown-project' })
    },
  )
})
