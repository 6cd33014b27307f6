/** The discontinued CLI 4.0.0's commands, as ordered calls of client 5.1.0 with real files. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Body, PublishedClient } from '../typescript/published-client.ts'

interface LockFile {
  projectId: number
  rootFolder: string
  version: string
}

interface Change extends Body {
  path: string
  content: string
  status: 'added' | 'modified' | 'deleted'
  contentHash: string
}

const rootFolder = 'prompts'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

export function commandsIn(folder: string, client: PublishedClient) {
  const file = (path: string) => join(folder, rootFolder, `${path}.promptl`)
  const writeLock = (lock: LockFile) => writeFile(join(folder, 'latitude-lock.json'), JSON.stringify(lock))
  const readLock = async () => JSON.parse(await readFile(join(folder, 'latitude-lock.json'), 'utf8')) as LockFile

  const fetchAll = async (projectId: number, versionUuid: string): Promise<Map<string, string>> => {
    const all = await client.prompts.getAll({ projectId, versionUuid })
    return new Map(all.map(({ path, content }) => [String(path), String(content)]))
  }
  const save = async (prompts: Map<string, string>): Promise<void> => {
    await rm(join(folder, rootFolder), { recursive: true, force: true })
    await mkdir(join(folder, rootFolder), { recursive: true })
    for (const [path, content] of prompts) {
      await mkdir(dirname(file(path)), { recursive: true })
      await writeFile(file(path), content)
    }
  }
  const local = async (): Promise<Map<string, string>> => {
    const names = await readdir(join(folder, rootFolder), { recursive: true })
    const files = names.filter((name) => name.endsWith('.promptl')).sort()
    const texts = files.map(async (name): Promise<[string, string]> => {
      const text = await readFile(join(folder, rootFolder, name), 'utf8')
      return [name.replace(/\.promptl$/, ''), text]
    })
    return new Map(await Promise.all(texts))
  }
  const changes = async (): Promise<Change[]> => {
    const { projectId, version } = await readLock()
    const [there, here] = [await fetchAll(projectId, version), await local()]
    const written = [...here].flatMap(([path, content]): Change[] => {
      const before = there.get(path)
      const contentHash = sha256(content)
      if (before === undefined) return [{ path, content, status: 'added', contentHash }]
      return sha256(before) === contentHash ? [] : [{ path, content, status: 'modified', contentHash }]
    })
    const gone = [...there].filter(([path]) => !here.has(path))
    return [
      ...written,
      ...gone.map(([path, text]): Change => ({ path, content: '', status: 'deleted', contentHash: sha256(text) })),
    ]
  }
  const checkout = async (uuid: string): Promise<void> => {
    const lock = await readLock()
    const version = await client.versions.get(lock.projectId, uuid)
    await save(await fetchAll(lock.projectId, String(version['uuid'])))
    await writeLock({ ...lock, version: uuid })
  }

  return {
    file,
    readLock,
    async initNew(name: string) {
      const created = (await client.projects.create(name)) as { project: { id: number }; version: { uuid: string } }
      await save(new Map())
      await writeLock({ projectId: created.project.id, rootFolder, version: created.version.uuid })
    },
    async initExisting(projectId: number) {
      const version = await client.versions.get(projectId, 'live')
      await save(await fetchAll(projectId, 'live'))
      await writeLock({ projectId, rootFolder, version: String(version['uuid']) })
    },
    async pull() {
      const { projectId, version } = await readLock()
      await save(await fetchAll(projectId, version))
    },
    status: async () => (await changes()).map(({ status, path }) => `${status.charAt(0).toUpperCase()} ${path}`),
    async push() {
      const { projectId, version } = await readLock()
      const changed = await changes()
      if (changed.length > 0) await client.versions.push(projectId, version, changed)
    },
    checkout,
    async checkoutNew(name: string) {
      const { projectId } = await readLock()
      const version = await client.versions.create(name, { projectId })
      await checkout(String(version['uuid']))
    },
  }
}
