import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Change, Stet } from '@stet/sdk'
import { expect, test } from 'vitest'
import { hashText } from '../src/sync/hash.ts'
import { server } from './support/shared-server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { threeWayRows } from './support/three-way-rows.ts'

// Each row of the table is one prompt, named after its state. All are in one folder and one project.
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
  lock(): Promise<Record<string, { hash?: string; mine?: string }>>
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

/** The side whose text each entry of the lock names as its base. */
const lettersIn = async (entries: Record<string, { hash?: string }>): Promise<Record<string, string>> => {
  const letterOf = (path: string, hash?: string) =>
    ['x', 'y', 'z'].find((side) => hashText(textOf(path, side)) === hash)
  return Object.fromEntries(Object.entries(entries).map(([path, { hash }]) => [path, letterOf(path, hash) ?? '']))
}

test('status and push: a row that needs a decision stops the whole push with 6; the rest is sent, deletions on request', async () => {
  const { person, client, versions, live, files, lock } = await arrange('push')
  const before = await lock()
  const status = await person.stet(['status', '--json'])
  expect(status.code).toBe(0)
  const states = JSON.parse(status.stdout).entries.map(({ path, state }: { path: string; state: string }) => [
    path,
    state,
  ])
  const differing = pathsOf(([, , , state]) => !silent.includes(state))
  expect(Object.fromEntries(states)).toEqual(Object.fromEntries(differing.map((state) => [state, state])))

  // The server merges a prompt that both sides changed, unless another row stops the push before.
  const linesOf = (path: string) => [path === 'conflict' ? 'conflict  lines 1-5' : path]
  for (const [argv, lines] of [
    [[], stopping.filter((path) => path !== 'conflict')],
    ...stopping.map((path) => [[path, 'local-edit', '--delete', '--yes'], linesOf(path)] as const),
  ] as const) {
    const { code, stdout, stderr } = await person.stet(['push', ...argv, '--json'])
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'conflict', lines })
  }
  expect(await client.versions.list()).toHaveLength(versions)
  expect(await lock()).toEqual(before)

  const unasked = await person.stet(['push', ...pathsOf(([, , , , push]) => push !== 'stop'), '--json'])
  expect(unasked.code).toBe(0)
  const pushed = JSON.parse(unasked.stdout)
  expect(pushed.changes.map(({ path }: { path: string }) => path)).toEqual(['local-edit', 'local-new'])
  expect(unasked.stderr).toContain('The files of local-delete are absent; the prompts stay')
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

  const untouched = threeWayRows.filter(([base, , , state]) => base && stopping.includes(state))
  expect(await lettersIn(await lock())).toEqual({
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

test('pull writes server changes, keeps local changes, marks conflicts in the files, and settles them on request', async () => {
  const { person, client, versions, files, live, lock } = await arrange('pull')
  const { code, stdout, stderr } = await person.stet(['pull', '--json'])
  expect(code).toBe(6)
  const actions = JSON.parse(stdout).changes.map(({ path, action }: { path: string; action: string }) => [path, action])
  // Without --prune and without a terminal, the deletion is not confirmed.
  const planned = threeWayRows.flatMap(([, , , state, , pull]) => {
    if (pull === 'none') return []
    return [[state, pull === 'delete' ? 'keep-deleted' : pull === 'merge' ? 'merge-conflict' : pull]]
  })
  expect(Object.fromEntries(actions)).toEqual(Object.fromEntries(planned))
  expect(stderr).toContain('remote-delete; the files stay')
  const { reason } = JSON.parse(stdout).changes.find(({ path }: { path: string }) => path === 'edit-against-delete')
  expect(reason).toContain('it was deleted on the server and edited here')
  const marked = (path: string) => `<<<<<<< file\n${textOf(path, 'y')}=======\n${textOf(path, 'z')}>>>>>>> live\n`
  const pulled: Record<string, string> = {
    ...sideOf(1, '.promptl'),
    'remote-edit.promptl': textOf('remote-edit', 'y'),
    'remote-new.promptl': textOf('remote-new', 'y'),
    'delete-against-edit.promptl': textOf('delete-against-edit', 'y'),
    'conflict.promptl': marked('conflict'),
    'both-new.promptl': marked('both-new'),
  }
  expect(await files()).toEqual(pulled)
  expect(await live()).toEqual(sideOf(2))
  expect(await client.versions.list()).toHaveLength(versions)
  const entries = await lock()
  const merged = Object.entries(entries).filter(([, entry]) => entry.mine !== undefined)
  expect(merged.map(([path]) => path).sort()).toEqual(['both-new', 'conflict'])
  expect(await lettersIn(entries)).toEqual({
    same: 'x',
    'local-edit': 'x',
    'remote-edit': 'y',
    'same-edit': 'y',
    conflict: 'z',
    'remote-new': 'y',
    'same-new': 'y',
    'both-new': 'z',
    'local-delete': 'x',
    'remote-delete': 'x',
    'edit-against-delete': 'x',
    'delete-against-edit': 'y',
  })

  // A deleted file comes back when it is named. --prune deletes only unedited files.
  await person.stet(['pull', 'local-delete'])
  await person.stet(['pull', 'remote-delete', 'edit-against-delete', '--prune'])
  const { 'remote-delete.promptl': _, ...named }: Record<string, string> = {
    ...pulled,
    'local-delete.promptl': textOf('local-delete', 'x'),
  }
  expect(await files()).toEqual(named)
  await person.stet(['pull', 'conflict', 'edit-against-delete', '--theirs', '--prune'])
  await person.stet(['pull', 'both-new', '--ours'])
  const { 'edit-against-delete.promptl': __, ...settled } = named
  expect(await files()).toEqual({
    ...settled,
    'conflict.promptl': textOf('conflict', 'z'),
    'both-new.promptl': textOf('both-new', 'y'),
  })
  const sent = JSON.parse((await person.stet(['push', '--json'])).stdout)
  expect(sent.changes.map(({ path }: { path: string }) => path)).toEqual(['both-new', 'local-edit', 'local-new'])
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
