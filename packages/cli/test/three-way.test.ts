import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Change, Stet } from '@stet/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningServer, startServer } from './support/server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { threeWayRows } from './support/three-way-rows.ts'

// Each row of the table is one prompt, named after its state. All are in one folder and one project.
let server: RunningServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

type Row = (typeof threeWayRows)[number]
const pathsOf = (wanted: (row: Row) => boolean): string[] => threeWayRows.filter(wanted).map(([, , , state]) => state)
const stopping = pathsOf(([, , , , push]) => push === 'stop').sort()
const silent = ['same', 'same-edit', 'same-new', 'both-deleted']

const textOf = (path: string, side: string): string => `${side} of ${path}\n`

interface Scene {
  person: Person
  client: Stet
  versions: number
  live(): Promise<Record<string, string>>
  files(): Promise<Record<string, string>>
  lock(): Promise<Record<string, { hash?: string; theirs?: string }>>
}

async function publish(client: Stet, changes: readonly Change[]): Promise<void> {
  const draft = await client.versions.create('change')
  await client.versions.push(draft.uuid, changes)
  await client.versions.publish(draft.uuid)
}

/** Pulls a folder at `base`, edits it to `local`, and changes the server to `remote`. */
async function arrange(name: string): Promise<Scene> {
  const account = new Stet({ apiKey: server.adminKey, baseUrl: server.address })
  const { project } = await account.projects.create(name)
  const client = account.project(project.id)
  const person = new Person(await temporaryFolder(), server, { STET_API_KEY: server.adminKey })
  const folder = join(person.folder, 'prompts')
  const write = (path: string, side: string): Change => ({ path, status: 'modified', content: textOf(path, side) })
  await publish(
    client,
    threeWayRows.flatMap(([base, , , path]) => (base ? [write(path, base)] : [])),
  )
  await mkdir(join(person.folder, '.git'))
  const init = await person.stet(['init', '--project', String(project.id)])
  if (init.code !== 0) throw new Error(init.stderr)
  const moved = threeWayRows.flatMap(([base, , remote, path]): Change[] => {
    if (base === remote) return []
    return [remote ? write(path, remote) : { path, status: 'deleted' }]
  })
  await publish(client, moved)
  for (const [, local, , path] of threeWayRows) {
    const file = join(folder, `${path}.promptl`)
    if (local) await writeFile(file, textOf(path, local))
    else await rm(file, { force: true })
  }
  return {
    person,
    client,
    versions: (await client.versions.list()).length,
    live: () => contentsOf(client, 'live'),
    async files() {
      const names = await readdir(folder)
      return Object.fromEntries(
        await Promise.all(names.map(async (one) => [one, await readFile(join(folder, one), 'utf8')])),
      )
    },
    lock: async () => JSON.parse(await readFile(join(person.folder, 'stet.lock.json'), 'utf8')).prompts,
  }
}

async function contentsOf(client: Stet, versionUuid: string): Promise<Record<string, string>> {
  const prompts = await client.prompts.list({ versionUuid })
  return Object.fromEntries(prompts.map(({ path, content }) => [path, content]))
}

const sideOf = (index: 0 | 1 | 2, ending = ''): Record<string, string> =>
  Object.fromEntries(threeWayRows.flatMap((row) => (row[index] ? [[row[3] + ending, textOf(row[3], row[index])]] : [])))

/** Returns the one-letter text behind a hash in the lock. */
async function letterOf(path: string, hash: string | undefined): Promise<string> {
  const { hashText } = await import('../src/sync/hash.ts')
  return ['x', 'y', 'z'].find((side) => hashText(textOf(path, side)) === hash) ?? ''
}

test('status reports the state of every row of the three-way table and changes nothing', async () => {
  const { person, files, live, lock } = await arrange('status')
  const before = await lock()
  const { code, stdout } = await person.stet(['status', '--json'])
  expect(code).toBe(0)
  const states = Object.fromEntries(
    JSON.parse(stdout).entries.map(({ path, state }: { path: string; state: string }) => [path, state]),
  )
  const differing = pathsOf(([, , , state]) => !silent.includes(state))
  expect(states).toEqual(Object.fromEntries(differing.map((state) => [state, state])))
  expect(await files()).toEqual(sideOf(1, '.promptl'))
  expect(await live()).toEqual(sideOf(2))
  expect(await lock()).toEqual(before)
})

test('push: any row that only a human can resolve stops the whole push with 6', async () => {
  const { person, client, versions, files, live, lock } = await arrange('push all')
  const before = await lock()
  const all = await person.stet(['push', '--json'])
  expect(all).toMatchObject({ code: 6, stdout: '' })
  expect(JSON.parse(all.stderr).error).toMatchObject({ code: 'conflict', lines: stopping })
  for (const path of stopping) {
    const one = await person.stet(['push', path, 'local-edit', '--json', '--delete', '--yes'])
    expect(one).toMatchObject({ code: 6, stdout: '' })
    expect(JSON.parse(one.stderr).error.lines).toEqual([path])
  }
  expect(await client.versions.list()).toHaveLength(versions)
  expect(await live()).toEqual(sideOf(2))
  expect(await files()).toEqual(sideOf(1, '.promptl'))
  expect(await lock()).toEqual(before)
})

test('push: sends local changes, deletions on request, and nothing else', async () => {
  const { person, client, files, live, lock } = await arrange('push rows')
  const rest = pathsOf(([, , , , push]) => push !== 'stop')
  const unasked = await person.stet(['push', ...rest, '--json'])
  expect(unasked.code).toBe(0)
  const pushed = JSON.parse(unasked.stdout)
  expect(pushed.changes.map(({ path }: { path: string }) => path)).toEqual(['local-edit', 'local-new'])
  expect(unasked.stderr).toContain('local-delete were deleted; the prompts stay')
  expect(unasked.stderr).toContain('remote-delete, remote-edit, remote-new')
  const sent: Record<string, string> = {
    ...sideOf(2),
    'local-edit': textOf('local-edit', 'y'),
    'local-new': textOf('local-new', 'y'),
  }
  expect(await contentsOf(client, pushed.version.uuid)).toEqual(sent)

  const asked = await person.stet(['push', 'local-delete', '--delete', '--json'])
  expect(JSON.parse(asked.stdout).changes).toMatchObject([{ path: 'local-delete', status: 'deleted' }])
  const { 'local-delete': _, ...left } = sent
  expect(await contentsOf(client, pushed.version.uuid)).toEqual(left)
  expect(await live()).toEqual(sideOf(2))
  expect(await files()).toEqual(sideOf(1, '.promptl'))

  const after = await lock()
  const bases: Record<string, string> = {}
  for (const [path, { hash }] of Object.entries(after)) bases[path] = await letterOf(path, hash)
  const untouched = threeWayRows.filter(([base, , , state]) => base && stopping.includes(state))
  expect(bases).toEqual({
    same: 'x',
    'local-edit': 'y',
    'remote-edit': 'x',
    'same-edit': 'y',
    'local-new': 'y',
    'same-new': 'y',
    'remote-delete': 'x',
    ...Object.fromEntries(untouched.map(([base, , , state]) => [state, base])),
  })
})

test('pull: writes server changes, keeps local changes, and saves conflicts as .remote files', async () => {
  const { person, client, versions, files, live, lock } = await arrange('pull')
  const { code, stdout, stderr } = await person.stet(['pull', '--json'])
  expect(code).toBe(0)
  const actions = JSON.parse(stdout).changes.map(({ path, action }: { path: string; action: string }) => [path, action])
  // Without --prune and without a terminal, the deletion is not confirmed.
  const planned = threeWayRows.flatMap(([, , , state, , pull]) => {
    if (pull === 'none') return []
    return [[state, pull === 'delete' ? 'keep-deleted' : pull]]
  })
  expect(Object.fromEntries(actions)).toEqual(Object.fromEntries(planned))
  expect(stderr).toContain('remote-delete; the files stay')
  expect(stderr).toContain('edit-against-delete was deleted on the server and edited here: kept')

  expect(await files()).toEqual({
    ...sideOf(1, '.promptl'),
    'remote-edit.promptl': textOf('remote-edit', 'y'),
    'remote-new.promptl': textOf('remote-new', 'y'),
    'delete-against-edit.promptl': textOf('delete-against-edit', 'y'),
    'conflict.promptl.remote': textOf('conflict', 'z'),
    'both-new.promptl.remote': textOf('both-new', 'z'),
  })
  expect(await live()).toEqual(sideOf(2))
  expect(await client.versions.list()).toHaveLength(versions)

  const bases: Record<string, string> = {}
  const theirs: Record<string, string> = {}
  for (const [path, entry] of Object.entries(await lock())) {
    bases[path] = await letterOf(path, entry.hash)
    if (entry.theirs !== undefined) theirs[path] = await letterOf(path, entry.theirs)
  }
  expect(theirs).toEqual({ conflict: 'z', 'both-new': 'z' })
  expect(bases).toEqual({
    same: 'x',
    'local-edit': 'x',
    'remote-edit': 'y',
    'same-edit': 'y',
    conflict: 'x',
    'remote-new': 'y',
    'same-new': 'y',
    'both-new': '',
    'local-delete': 'x',
    'remote-delete': 'x',
    'edit-against-delete': 'x',
    'delete-against-edit': 'y',
  })
})

test('pull restores a deleted file when it is named, and deletes an unedited one with --prune', async () => {
  const { person, files, live } = await arrange('pull named')
  await person.stet(['pull', 'local-delete'])
  const named = await files()
  expect(named).toEqual({ ...sideOf(1, '.promptl'), 'local-delete.promptl': textOf('local-delete', 'x') })
  await person.stet(['pull', 'remote-delete', 'edit-against-delete', '--prune'])
  const { 'remote-delete.promptl': _, ...pruned } = named
  expect(await files()).toEqual(pruned)
  expect(await live()).toEqual(sideOf(2))
})

test('pull --theirs and --ours resolve every conflict, and the next push sends the kept text', async () => {
  const ours = await arrange('ours')
  await ours.person.stet(['pull', '--ours'])
  const { code, stdout } = await ours.person.stet(['push', '--json'])
  expect(code).toBe(0)
  const sent = JSON.parse(stdout).changes.map(({ path }: { path: string }) => path)
  expect(sent).toEqual(expect.arrayContaining(['conflict', 'both-new', 'edit-against-delete']))

  const theirs = await arrange('theirs')
  await theirs.person.stet(['pull', '--theirs', '--prune'])
  const files = await theirs.files()
  expect(files).toMatchObject({
    'conflict.promptl': textOf('conflict', 'z'),
    'both-new.promptl': textOf('both-new', 'z'),
    'delete-against-edit.promptl': textOf('delete-against-edit', 'y'),
  })
  expect(Object.keys(files).filter((name) => name.endsWith('.remote'))).toEqual([])
  expect(files).not.toHaveProperty('edit-against-delete.promptl')
  expect(await theirs.person.stet(['push', ...stopping.slice(0, 2), '--json'])).toMatchObject({ code: 0 })
})

test('paths that are not valid file names everywhere are refused by name with 1, in both directions', async () => {
  const account = new Stet({ apiKey: server.adminKey, baseUrl: server.address })
  const { project } = await account.projects.create('paths')
  const client = account.project(project.id)
  const refused = ['Tone', 'con/x', 'end.', 'tone']
  const added = [...refused, 'good'].map((path): Change => ({ path, status: 'added', content: `${path}\n` }))
  await publish(client, added)
  const person = new Person(await temporaryFolder(), server, { STET_API_KEY: server.adminKey })
  await mkdir(join(person.folder, '.git'))
  const init = await person.stet(['init', '--project', String(project.id), '--json'])
  expect(init.code).toBe(1)
  const paths = (list: { path: string }[]): string[] => list.map(({ path }) => path)
  expect(paths(JSON.parse(init.stdout).pull.refused).sort()).toEqual(refused)
  expect(await readdir(join(person.folder, 'prompts'))).toEqual(['good.promptl'])

  const outside = await temporaryFolder()
  await writeFile(join(outside, 'secret.promptl'), 'secret\n')
  await symlink(join(outside, 'secret.promptl'), join(person.folder, 'prompts', 'link.promptl'))
  for (const name of ['Case', 'case', 'fine', 'a b', 'TONE']) {
    await writeFile(join(person.folder, 'prompts', `${name}.promptl`), `${name}\n`)
  }
  const pushed = await person.stet(['push', '--json'])
  expect(pushed.code).toBe(1)
  const report = JSON.parse(pushed.stdout)
  expect(paths(report.refused).sort()).toEqual(['Case', 'TONE', 'a b', 'case', 'link'])
  expect(paths(report.changes)).toEqual(['fine'])
  expect(Object.values(await contentsOf(client, report.version.uuid))).not.toContain('secret\n')

  // Skipped paths behind a link must not count as deleted.
  const moved = join(person.folder, 'prompts', 'fine.promptl')
  await rm(moved)
  await symlink(join(outside, 'secret.promptl'), moved)
  for (const argv of [['status', '--offline'], ['status'], ['push', '--delete', '--dry-run']]) {
    const { code, stdout } = await person.stet([...argv, '--json'])
    const { entries = [], changes = [], refused: left } = JSON.parse(stdout)
    expect({ code, found: paths([...entries, ...changes]).includes('fine') }, argv.join(' ')).toEqual({
      code: 1,
      found: false,
    })
    expect(paths(left)).toContain('fine')
  }
})
