/** The discontinued CLI 4.0.0 only uses client 5.1.0. These tests make its calls in order, with real files. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type ClientBench, openClientBench, prompts, sentDuring } from '../matrix/client-bench.ts'
import { clientMatrix } from '../matrix/client-matrix.ts'
import type { PublishedClass, PublishedClient } from '../typescript/published-client.ts'
import { commandsIn } from './commands.ts'

let bench: ClientBench
let client: PublishedClient
let Latitude: PublishedClass
const folders: string[] = []
let latitude: ReturnType<typeof commandsIn>

beforeAll(async () => {
  bench = await openClientBench()
  process.env['GATEWAY_HOSTNAME'] = '127.0.0.1'
  process.env['GATEWAY_PORT'] = String(bench.front.port)
  process.env['GATEWAY_SSL'] = ''
  Latitude = (await import('latitude-sdk-5')).Latitude as unknown as PublishedClass
  client = new Latitude(bench.key)
})
beforeEach(async () => {
  folders.push(await temporaryFolder())
  latitude = commandsIn(folders.at(-1) ?? '', client)
})
afterAll(async () => {
  await bench?.close()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

const awkward: Record<string, string> = {
  empty: '',
  'no-front-matter': 'Hello',
  'line/ends': '---\r\nprovider: OpenAI\r\n---\r\nOne\r\n\r\n\r\n',
  'no/end': 'Two\n\n  three',
  unicode: 'e\u0301 é 日本 \u{1f600}\u2028\u0085\ufeff',
  'not-a-prompt': '{{ if }} <user>\n',
}

async function write(texts: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(latitude.file(path)), { recursive: true })
    await writeFile(latitude.file(path), text)
  }
}

const callsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
  const { lines } = await sentDuring(bench, work)
  return lines.map((line) => line.replace('/api/v3', ''))
}

const matrix = clientMatrix('cli', {
  client: 'CLI (@latitude-data/cli)',
  version: '4.0.0',
  as: 'its calls to the 5.1.0 client, in order, and its files, rebuilt in the suite',
})

matrix.method('init, a new project', () => {
  test('one call; the lock names the project and its draft', async () => {
    expect(await callsOf(() => latitude.initNew('from the CLI'))).toEqual(['POST /projects'])
    const lock = await latitude.readLock()
    expect(await client.versions.get(lock.projectId, lock.version)).toMatchObject({ status: 'draft' })
  })
})

matrix.method(
  'init, an existing project',
  () => {
    test('takes the live version', async () => {
      expect(await callsOf(() => latitude.initExisting(1))).toEqual([
        'GET /projects/1/versions/live',
        'GET /projects/1/versions/live/documents',
      ])
      expect(await latitude.readLock()).toEqual({ projectId: 1, rootFolder: 'prompts', version: bench.liveUuid })
      expect(await readFile(latitude.file('folder/triage'), 'utf8')).toBe(prompts['folder/triage'])
      expect(await latitude.status()).toEqual([])
    })

    test('fails when nothing is live', async () => {
      await latitude.initNew('nothing live')
      const { projectId } = await latitude.readLock()
      await expect(latitude.initExisting(projectId)).rejects.toMatchObject({ status: 404 })
    })
  },
  'The lock names a published version, so run `checkout -b` before a push.',
)

matrix.method('pull', () => {
  test('writes what is there, and deletes what is not', async () => {
    await latitude.initExisting(1)
    await write({ greet: 'changed', more: 'x' })
    expect(await latitude.status()).toEqual(['M greet', 'A more'])
    expect(await callsOf(() => latitude.pull())).toEqual([`GET /projects/1/versions/${bench.liveUuid}/documents`])
    expect(await latitude.status()).toEqual([])
  })
})

matrix.method('status', () => {
  test('shows added, changed and deleted files', async () => {
    await latitude.initExisting(1)
    await write({ greet: 'changed', more: 'x' })
    await rm(latitude.file('folder/triage'))
    expect(await callsOf(latitude.status)).toHaveLength(1)
    expect(await latitude.status()).toEqual(['M greet', 'A more', 'D folder/triage'])
  })
})

matrix.method(
  'push',
  () => {
    test('sends the changed files in one call, and then there is no difference', async () => {
      await latitude.initNew('pushed')
      await write({ ...awkward, old: 'x', kept: 'y' })
      await latitude.push()
      expect(await latitude.status()).toEqual([])
      await rm(latitude.file('old'))
      await write({ empty: 'no more' })
      const { sent } = await sentDuring(bench, () => latitude.push())
      expect(sent.map(({ method }) => method)).toEqual(['GET', 'POST'])
      expect(sent[1]?.body).toMatchObject({
        changes: [
          {
            path: 'empty',
            content: 'no more',
            status: 'modified',
            contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          },
          { path: 'old', content: '', status: 'deleted' },
        ],
      })
      expect(await latitude.status()).toEqual([])
    })

    test('every text comes back byte for byte', async () => {
      await latitude.initNew('bytes')
      await write(awkward)
      await latitude.push()
      await latitude.pull()
      for (const [path, text] of Object.entries(awkward)) {
        expect(await readFile(latitude.file(path), 'utf8')).toBe(text)
      }
    })

    test('a published version is refused', async () => {
      await latitude.initExisting(1)
      await write({ greet: 'changed' })
      await expect(latitude.push()).rejects.toMatchObject({ status: 400, errorCode: 'BadRequestError' })
      expect((await client.prompts.get('greet', { projectId: 1 }))['content']).toBe(prompts.greet)
    })
  },
  'The version must be a draft. This CLI cannot publish: use `stet publish` or `POST …/publish`.',
)

matrix.method('checkout', () => {
  test('another version by its uuid', async () => {
    await latitude.initExisting(1)
    const draft = await bench.newDraft()
    await bench.server.client.prompts.create('only/here', { versionUuid: draft, prompt: 'Draft.' })
    expect(await callsOf(() => latitude.checkout(draft))).toEqual([
      `GET /projects/1/versions/${draft}`,
      `GET /projects/1/versions/${draft}/documents`,
    ])
    expect(await readFile(latitude.file('only/here'), 'utf8')).toBe('Draft.')
    expect((await latitude.readLock()).version).toBe(draft)
  })

  test('an unknown version fails, and the lock stays', async () => {
    await latitude.initExisting(1)
    await expect(latitude.checkout('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({ status: 404 })
    expect((await latitude.readLock()).version).toBe(bench.liveUuid)
  })
})

matrix.method('checkout -b', () => {
  test('makes a draft, which can be pushed to', async () => {
    await latitude.initExisting(1)
    const lines = await callsOf(() => latitude.checkoutNew('next'))
    const { version } = await latitude.readLock()
    expect(lines).toEqual([
      'POST /projects/1/versions',
      `GET /projects/1/versions/${version}`,
      `GET /projects/1/versions/${version}/documents`,
    ])
    await write({ greet: 'changed' })
    await latitude.push()
    expect(await latitude.status()).toEqual([])
    expect((await client.prompts.get('greet', { projectId: 1, versionUuid: version }))['content']).toBe('changed')
  })
})

matrix.method(
  '--dev',
  () => {
    test('names localhost and a port, without TLS', async () => {
      const gateway = { host: 'localhost', port: bench.front.port, ssl: false }
      latitude = commandsIn(folders.at(-1) ?? '', new Latitude(bench.key, { __internal: { gateway } }))
      await latitude.initExisting(1)
      expect(await latitude.status()).toEqual([])
    })
  },
  "It selects port 8787, which is stet's default. For other addresses, set GATEWAY_HOSTNAME and GATEWAY_PORT, and GATEWAY_SSL to an empty string.",
)

matrix.close(() => [
  ...['init, a new project', 'init, an existing project', 'pull', 'status', 'push', 'checkout', 'checkout -b', '--dev'],
])
