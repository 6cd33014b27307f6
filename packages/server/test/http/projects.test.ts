import { CreatedProject } from '@stet/contract'
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

  it.each(['0', '-1', 'x', '1.5', '2147483648', '99999999999999999999', '01', '%00', '+1', '1e3'])(
    'return 404 for the id %s',
    async (id) => {
      const answer = await api('GET', `/projects/${id}/versions`)
      expect(refusalOf(answer)).toEqual({ status: 404, reason: 'unknown-project' })
    },
  )
})
