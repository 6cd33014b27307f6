import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { commitAll, git } from './support/git.ts'
import { projectWith, server } from './support/shared-server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

// Git asks a promisor for a whole hash only.
const missing = '1234567890'.repeat(4)

let id: string
beforeAll(async () => {
  const { client, id: projectId } = await projectWith({ a: 'first\n' })
  // The title names a commit, so every command asks git for it.
  const draft = await client.versions.create(`main@${missing}`)
  await client.versions.push(draft.uuid, [{ path: 'a', status: 'modified', content: 'second\n' }])
  await client.versions.publish(draft.uuid)
  id = String(projectId)
})

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

/** A clone that a hostile author made. Every program that it starts leaves a file in `markers`. */
interface Trap {
  folder: string
  markers: string
  person: Person
}

async function trap(): Promise<Trap> {
  const around = await temporaryFolder()
  const folder = join(around, 'clone')
  const markers = join(around, 'markers')
  await mkdir(markers)
  await write(join(folder, 'stet.config.json'), JSON.stringify({ projectId: Number(id) }))
  await write(join(folder, 'prompts', 'a.promptl'), 'mine\n')
  git(folder, 'init', '-q', '-b', 'main')
  const person = new Person(folder, server, { STET_API_KEY: server.adminKey, CI: 'true' })
  return { folder, markers, person }
}

/** Writes what git takes for a bare repository. Its missing objects are fetched by a program that the config names. */
async function plantBareRepository(folder: string, markers: string): Promise<void> {
  const program = `touch ${join(markers, 'fetched')};false`
  const config = `[core]
	repositoryformatversion = 1
	fsmonitor = "touch ${join(markers, 'fsmonitor')};false"
[extensions]
	partialClone = origin
[remote "origin"]
	promisor = true
	url = .
	uploadpack = "${program}"
`
  await write(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
  await write(join(folder, 'config'), config)
  await write(join(folder, 'objects', 'info', 'packs'), '')
  await write(join(folder, 'refs', 'heads', 'main'), `${missing}\n`)
}

const commands = [['status'], ['pull'], ['diff'], ['push', '--dry-run'], ['push'], ['check']]

async function expectNothingRuns({ person, markers }: Pick<Trap, 'person' | 'markers'>, place = '.'): Promise<void> {
  for (const argv of commands) {
    await person.stet(['-C', place, ...argv])
    expect(await readdir(markers), argv.join(' ')).toEqual([])
  }
}

test.each([
  ['the prompts folder', 'prompts', '.'],
  ["the configuration's folder", 'sub', 'sub'],
])('a bare repository that is committed as files in %s runs no command', async (_, planted, place) => {
  const caught = await trap()
  await plantBareRepository(join(caught.folder, planted), caught.markers)
  await write(join(caught.folder, 'sub', 'stet.config.json'), JSON.stringify({ projectId: Number(id) }))
  await write(join(caught.folder, 'sub', 'prompts', 'a.promptl'), 'mine\n')
  commitAll(caught.folder)
  await expectNothingRuns(caught, place)
})

test("an unpacked archive's own .git fetches nothing and runs no hook", async () => {
  const caught = await trap()
  await plantBareRepository(join(caught.folder, '.git'), caught.markers)
  await expectNothingRuns(caught)
})

test('variables of a hook do not choose another repository', async () => {
  const other = await trap()
  await plantBareRepository(join(other.folder, 'bare'), other.markers)
  const bare = join(other.folder, 'bare')
  const caught = await trap()
  commitAll(caught.folder)
  for (const [name, value] of Object.entries({ GIT_DIR: bare, GIT_COMMON_DIR: bare })) process.env[name] = value
  try {
    await expectNothingRuns({ person: caught.person, markers: other.markers })
  } finally {
    for (const name of ['GIT_DIR', 'GIT_COMMON_DIR']) delete process.env[name]
  }
})

test('a program named git in the checkout does not run, even if PATH contains the working folder', async () => {
  const caught = await trap()
  for (const folder of [caught.folder, join(caught.folder, 'prompts')]) {
    await write(join(folder, 'git'), `#!/bin/sh\ntouch ${join(caught.markers, 'program')}\n`)
    await chmod(join(folder, 'git'), 0o755)
  }
  const before = process.env['PATH']
  process.env['PATH'] = `.:${before}`
  try {
    await expectNothingRuns(caught)
  } finally {
    process.env['PATH'] = before
  }
})

// Only root may give a file to another user.
test.runIf(process.getuid?.() === 0)("git's check of the owner applies, and so do the user's exceptions", async () => {
  const { folder, person } = await trap()
  commitAll(folder)
  await chown(join(folder, '.git'), 65_534, 65_534)
  expect((await person.stet(['push', '--force', '--yes'])).stderr).toContain('created draft "draft of admin"')
  const exception = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: folder }
  Object.assign(process.env, exception)
  try {
    expect((await person.stet(['push', '--force', '--yes', '--new'])).stderr).toContain('created draft "main@')
  } finally {
    for (const name of Object.keys(exception)) delete process.env[name]
  }
})
