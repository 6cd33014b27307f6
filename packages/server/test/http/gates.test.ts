import { GateSettings } from '@stet/contract'
import { describe, expect, it } from 'vitest'
import { apiCaller } from './api-call.ts'
import { refusalOf } from './refusal-of.ts'
import { createTestProject, issueKey } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const { server, api } = await sharedServer()

async function projectWith(prompts: Record<string, string>) {
  const project = await createTestProject(api, prompts)
  const gates = `/projects/${project.id}/gates`
  const put = (body: Record<string, unknown>) => api('PUT', gates, { body })
  const edit = async (changes: Record<string, string>) => {
    const draft = await project.newDraft()
    const list = Object.entries(changes).map(([path, content]) => ({ path, content, status: 'modified' }))
    expect((await api('POST', `${draft}/push`, { body: { changes: list } })).status).toBe(200)
    return {
      checks: async () => (await api('GET', `${draft}/checks`)).body,
      publish: (body = {}, by = api) => by('POST', `${draft}/publish`, { body }),
    }
  }
  return { ...project, gates, put, edit }
}

describe('the gates of a project', () => {
  it('are stored with all defaults, and replaced', async () => {
    const { gates, put } = await projectWith({ a: 'Hello' })
    const read = async () => GateSettings.parse((await api('GET', gates)).body)
    expect(await read()).toEqual({ mode: 'warn', gates: [] })
    const given = { path: '/support/reply/', evaluations: ['Checks'], tag: null, maxBroken: 0, noWorseBy: 0.05 }
    const stored = {
      mode: 'block',
      gates: [
        {
          ...{ path: 'support/reply', evaluations: ['Checks'], maxBroken: 0, noWorseBy: 0.05 },
          ...{ minRows: 5, maxUnscored: 0.05, labels: 'others' },
        },
      ],
    }
    expect((await put({ mode: 'block', gates: [given] })).body).toEqual(stored)
    expect(await read()).toEqual(stored)
    await put({ gates: [] })
    expect(await read()).toEqual({ mode: 'warn', gates: [] })
  })

  it('take any name of an evaluation of the project', async () => {
    const { id, put } = await projectWith({ a: 'Hello' })
    await api('POST', '/evaluations', { body: { projectId: id, name: 'Polite', metric: 'binary' } })
    expect((await put({ gates: [{ path: '*', evaluations: ['Polite', 'Checks'] }] })).status).toBe(200)
  })

  const gate = { path: 'a', evaluations: ['Checks'] }
  it.each([
    ['an unknown condition', [{ ...gate, minRow: 9 }], 'gates.0'],
    ['a path that no prompt can have', [{ ...gate, path: 'no spaces' }], 'gates.0.path'],
    ['the same gate twice', [gate, { ...gate, path: '/a' }], 'gates.1.path'],
    ['an unknown evaluation', [gate, { path: '*', evaluations: ['Checks', 'Polite'] }], 'gates.1.evaluations.1'],
    ['no evaluation', [{ ...gate, evaluations: [] }], 'gates.0.evaluations'],
    ['a share over 1', [{ ...gate, passRateAtLeast: 1.1 }], 'gates.0.passRateAtLeast'],
    ['21 gates', Array.from({ length: 21 }, (_, place) => ({ ...gate, path: `p${place}` })), 'gates'],
  ])('refuse %s', async (_name, gates, path) => {
    const { put, gates: address } = await projectWith({ a: 'Hello' })
    expect(refusalOf(await put({ gates }))).toMatchObject({ status: 400, path })
    expect((await api('GET', address)).body).toEqual({ mode: 'warn', gates: [] })
  })
})

describe('a publication', () => {
  const oneGate = (mode: string) => ({ mode, gates: [{ path: 'a', evaluations: ['Checks'] }] })

  it('is refused without a result, unless the gates only warn', async () => {
    const { put, edit } = await projectWith({ a: 'Hello', b: 'Other' })
    await put(oneGate('block'))
    const draft = await edit({ a: 'Hi' })
    const verdict = { path: 'a', gate: 0, verdict: 'inconclusive', code: 'no-experiment', tries: 0 }
    const checks = await draft.checks()
    expect(checks).toMatchObject({ verdict: 'blocked', gates: [verdict] })
    expect(checks['checks']).toContainEqual({ name: 'gate', state: 'blocked', findings: [] })
    const refused = await draft.publish()
    expect([refused.status, refused.body]).toMatchObject([409, { reason: 'gate', details: { gates: [verdict] } }])
    await put(oneGate('warn'))
    expect(await draft.checks()).toMatchObject({ verdict: 'pass', gates: [verdict] })
    expect((await draft.publish()).status).toBe(200)
  })

  it('is not asked about prompts that it does not change, that are new, or that it deletes', async () => {
    const { put, edit, newDraft } = await projectWith({ a: 'Hello', b: 'Other' })
    await put(oneGate('block'))
    expect((await (await edit({ b: 'Changed' })).publish()).status).toBe(200)
    const draft = await newDraft()
    await api('DELETE', `${draft}/documents/a`)
    expect((await api('POST', `${draft}/publish`)).status).toBe(200)
    const added = await edit({ a: 'Hello again' })
    expect(await added.checks()).toMatchObject({ gates: [{ verdict: 'pass', experimentUuid: null }] })
    expect((await added.publish()).status).toBe(200)
  })

  it('overrides the gates with an admin key and a reason, which its release keeps', async () => {
    const { id, put, edit } = await projectWith({ a: 'Hello' })
    await put(oneGate('block'))
    const draft = await edit({ a: 'Hi' })
    expect(refusalOf(await draft.publish({ override: ['gate'] }))).toMatchObject({ status: 400, path: 'reason' })
    const publisher = apiCaller(server.url, await issueKey(api, { scopes: ['publish', 'read', 'write'] }))
    const body = { override: ['gate'], reason: 'The provider is down' }
    expect((await draft.publish(body, publisher)).body).toMatchObject({
      reason: 'missing-scope',
      details: { required: 'admin' },
    })
    const asCreated = { name: 'x', changes: [{ path: 'a', status: 'modified', content: 'Hey' }], publish: body }
    expect((await publisher('POST', `/projects/${id}/versions`, { body: asCreated })).status).toBe(403)
    expect((await draft.publish(body)).status).toBe(200)
    const releases = (await api('GET', `/projects/${id}/environments/live/releases`)).body as { items: object[] }
    const override = { check: 'gate', path: 'a', verdict: 'inconclusive', code: 'no-experiment' }
    expect(releases.items[0]).toMatchObject({ reason: body.reason, overrides: [override] })
    expect(releases.items[1]).toMatchObject({ overrides: [] })
  })

  it('is not asked if it rolls back', async () => {
    const { id, put, edit } = await projectWith({ a: 'Hello' })
    await (await edit({ a: 'Hi' })).publish()
    await put(oneGate('block'))
    expect((await api('POST', `/projects/${id}/environments/live/rollback`, { body: {} })).status).toBe(200)
  })
})
