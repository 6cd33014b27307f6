/** A list of many prompts stops evaluating when its client disconnects. */
import { expect, it } from 'vitest'
import { createTestProject } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const left = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))

it("cancels a list's evaluations when its client disconnects", async () => {
  const { server, api, key } = await sharedServer()
  const { draft } = await createTestProject(api)
  const documents = `${draft}/documents`
  // A push does not compile, so a list evaluates every text.
  const changes = Array.from({ length: 40 }, (_, at) => ({
    path: `p${at}`,
    content: `${at} {{ a.b }}`,
    status: 'added',
  }))
  expect(await api('POST', `${draft}/push`, { body: { changes } })).toMatchObject({ status: 200 })
  const { templates } = server.deps
  const { scan } = templates
  let [first, asked]: [AbortSignal | undefined, number] = [undefined, 0]
  // The evaluations of the first list wait until the server has noticed that its client left, however late that is.
  templates.scan = async (source, owner) => {
    first ??= owner.signal
    if (first && owner.signal === first) {
      asked += 1
      await left(first)
    }
    return scan(source, owner)
  }
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${key}` }
  const listing = fetch(`${server.url}/api/v3${documents}`, { headers, signal: leaving.signal })
  await expect.poll(() => asked).toBeGreaterThan(0)
  leaving.abort()
  await expect(listing).rejects.toThrow('aborted')
  // A workspace lists one request at a time, so the first list has ended before this one evaluates.
  expect((await api('GET', documents)).body).toHaveLength(40)
  templates.scan = scan
  expect(asked).toBeLessThan(40)
})
