import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { commitAll, git } from './support/git.ts'
import { account, loggedIn, server } from './support/shared-server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

async function write(folder: string, path: string, text: string): Promise<void> {
  const file = join(folder, 'prompts', `${path}.promptl`)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

/** A prompt repository with a project. CI clones it for each publication. */
class Repository {
  readonly ana: Person
  constructor(ana: Person) {
    this.ana = ana
  }

  static async create(name: string): Promise<Repository> {
    const ana = await loggedIn()
    await rm(join(ana.folder, '.git'), { recursive: true })
    git(ana.folder, 'init', '-q', '-b', 'main')
    await writeFile(join(ana.folder, '.gitignore'), '.cache\n.config\n.state\n')
    await write(ana.folder, 'a', 'first a\n')
    await write(ana.folder, 'b', 'first b\n')
    expect(await ana.stet(['init', '--create', name])).toMatchObject({ code: 0 })
    expect(await ana.stet(['push', '--publish', '--yes'])).toMatchObject({ code: 0 })
    const repository = new Repository(ana)
    repository.commit()
    return repository
  }

  commit(): string {
    return commitAll(this.ana.folder)
  }

  /** The clone's only secret is a key. */
  async clone(...flags: string[]): Promise<Person> {
    const folder = join(await temporaryFolder(), 'clone')
    git(this.ana.folder, 'clone', '-q', ...flags, `file://${this.ana.folder}`, folder)
    return new Person(folder, server, { STET_API_KEY: server.adminKey, CI: 'true' })
  }

  async publish(...flags: string[]) {
    const ci = await this.clone()
    return ci.stet(['push', '--publish', '--yes', '--json', ...flags])
  }

  async live(): Promise<Record<string, string>> {
    const file = join(this.ana.folder, '.state', 'live.json')
    await this.ana.stet(['export', '--out', file, '--version-uuid', 'live'])
    const text = await readFile(file, 'utf8')
    await rm(file)
    return JSON.parse(text)
  }
}

const changesOf = ({ stdout }: { stdout: string }): string[] =>
  JSON.parse(stdout).changes.map(({ path }: { path: string }) => path)

test('CI can publish repeatedly, with named or default version names, and without a lock', async () => {
  const repository = await Repository.create('in turns')
  const { ana } = repository
  await write(ana.folder, 'a', 'second a\n')
  const sha = repository.commit()
  expect(changesOf(await repository.publish('--name', sha))).toEqual(['a'])
  await write(ana.folder, 'a', 'third a\n')
  repository.commit()
  expect(changesOf(await repository.publish())).toEqual(['a'])
  // Ana's lock is as old as the first version. `versions use` adopts the texts that are now equal on both sides.
  expect(await ana.stet(['versions', 'use', 'live'])).toMatchObject({ code: 0 })
  await write(ana.folder, 'a', 'half\n')
  expect(changesOf(await ana.stet(['push', '--dry-run', '--json']))).toEqual(['a'])
  await rm(join(ana.folder, 'stet.lock.json'))
  await write(ana.folder, 'a', 'fourth a\n')
  await write(ana.folder, 'c', 'new\n')
  repository.commit()
  expect(changesOf(await repository.publish())).toEqual(['a', 'c'])
  expect(await repository.live()).toEqual({ a: 'fourth a\n', b: 'first b\n', c: 'new\n' })
  const clone = await repository.clone()
  expect(await clone.stet(['status', '--check'])).toMatchObject({ code: 0, stdout: '' })
})

test("a colleague's change on the server is a conflict; without git history, so is CI's publication, and the message says why", async () => {
  const repository = await Repository.create('colleague')
  const { ana } = repository
  await write(ana.folder, 'a', 'second a\n')
  repository.commit()
  expect(await repository.publish()).toMatchObject({ code: 0 })
  await write(ana.folder, 'a', 'third a\n')
  repository.commit()
  const shallow = await (await repository.clone('--depth', '1')).stet(['push'])
  expect(shallow).toMatchObject({ code: 6, stderr: expect.stringContaining('fetch-depth: 0') })
  const ben = await loggedIn()
  const { projectId } = JSON.parse(await readFile(join(ana.folder, 'stet.config.json'), 'utf8'))
  await ben.stet(['init', '--project', String(projectId)])
  await write(ben.folder, 'a', 'a of ben\n')
  expect(await ben.stet(['push', '--publish', '--yes'])).toMatchObject({ code: 0 })
  const refused = await repository.publish()
  expect(refused).toMatchObject({ code: 6, stdout: '' })
  expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'conflict', lines: ['a  lines 1-5'] })
  expect((await repository.live())['a']).toBe('a of ben\n')
})

test('the next publication from CI does not revert a rollback', async () => {
  const repository = await Repository.create('rolled back')
  const { ana } = repository
  await write(ana.folder, 'a', 'second a\n')
  repository.commit()
  expect(await repository.publish()).toMatchObject({ code: 0 })
  expect(await ana.stet(['rollback', '1', '--yes'])).toMatchObject({ code: 0 })
  await write(ana.folder, 'b', 'second b\n')
  repository.commit()
  expect((await (await repository.clone()).stet(['status'])).stdout).toMatch(/^ {2}M b .*\n {2}M a .*ago\n$/)
  expect(changesOf(await repository.publish())).toEqual(['b'])
  expect(await repository.live()).toEqual({ a: 'first a\n', b: 'second b\n' })
})

test('after a rollback and a pull, an edit can be pushed, also by CI with the committed lock', async () => {
  const repository = await Repository.create('edited after a rollback')
  const { ana } = repository
  await write(ana.folder, 'a', 'second a\n')
  repository.commit()
  expect(await repository.publish()).toMatchObject({ code: 0 })
  expect(await ana.stet(['rollback', '1', '--yes'])).toMatchObject({ code: 0 })
  expect(await ana.stet(['pull'])).toMatchObject({ code: 0 })
  for (const text of ['third a\n', 'fourth a\n']) {
    await write(ana.folder, 'a', text)
    repository.commit()
    expect(changesOf(await repository.publish())).toEqual(['a'])
    expect(await repository.live()).toEqual({ a: text, b: 'first b\n' })
    if (text === 'third a\n') expect(await ana.stet(['push', '--dry-run'])).toMatchObject({ code: 0 })
  }
  // Another rollback is unknown to the lock, so the edit that it undid stays undone.
  expect(await ana.stet(['rollback', '1', '--yes'])).toMatchObject({ code: 0 })
  await write(ana.folder, 'b', 'second b\n')
  repository.commit()
  expect(changesOf(await repository.publish())).toEqual(['b'])
  expect(await repository.live()).toEqual({ a: 'first a\n', b: 'second b\n' })
})

test('later publications from CI do not revert a rollback either, of an edit, an addition or a deletion', async () => {
  const repository = await Repository.create('rolled back for long')
  const { ana } = repository
  await write(ana.folder, 'd', 'first d\n')
  repository.commit()
  expect(await repository.publish()).toMatchObject({ code: 0 })
  await write(ana.folder, 'a', 'second a\n')
  await write(ana.folder, 'c', 'first c\n')
  await rm(join(ana.folder, 'prompts/d.promptl'))
  repository.commit()
  expect(await repository.publish('--delete')).toMatchObject({ code: 0 })
  expect(await ana.stet(['rollback', 'v2', '--yes'])).toMatchObject({ code: 0 })
  for (const text of ['second b\n', 'third b\n', 'fourth b\n']) {
    await write(ana.folder, 'b', text)
    repository.commit()
    expect(changesOf(await repository.publish('--delete'))).toEqual(['b'])
    expect(await repository.live()).toEqual({ a: 'first a\n', b: text, d: 'first d\n' })
  }
  // A new edit is on top of the text that was rolled back, so it is a conflict.
  await write(ana.folder, 'a', 'third a\n')
  repository.commit()
  expect(await repository.publish()).toMatchObject({ code: 6, stdout: '' })
})

test('the next publication from CI leaves a forced edit of live', async () => {
  const repository = await Repository.create('forced edit')
  const { ana } = repository
  await write(ana.folder, 'a', 'second a\n')
  repository.commit()
  expect(await repository.publish()).toMatchObject({ code: 0 })
  const { projectId } = JSON.parse(await readFile(join(ana.folder, 'stet.config.json'), 'utf8'))
  const urgent = { versionUuid: 'live', prompt: 'urgent a\n', force: true }
  await account.project(projectId).prompts.createOrUpdate('a', urgent)
  await write(ana.folder, 'b', 'second b\n')
  repository.commit()
  expect(changesOf(await repository.publish())).toEqual(['b'])
  expect(await repository.live()).toEqual({ a: 'urgent a\n', b: 'second b\n' })
})

test('a version that is named after a commit but has another text is not a base', async () => {
  const repository = await Repository.create('named so')
  const { ana } = repository
  const sha = git(ana.folder, 'rev-parse', 'HEAD')
  const ci = await repository.clone()
  await write(ci.folder, 'a', 'typed on the machine\n')
  expect(await ci.stet(['push', '--publish', '--yes', '--name', sha])).toMatchObject({ code: 0 })
  await write(ana.folder, 'a', 'second a\n')
  repository.commit()
  expect(await repository.publish()).toMatchObject({ code: 6 })
})

test("a folder that follows an open draft uses only CI's publications as base", async () => {
  const repository = await Repository.create('open draft')
  const { ana } = repository
  await write(ana.folder, 'b', 'b of the draft\n')
  expect(await ana.stet(['push', '--name', 'open'])).toMatchObject({ code: 0 })
  const commit = async (path: string, text: string) => {
    await write(ana.folder, path, text)
    git(ana.folder, 'add', 'prompts/a.promptl', 'prompts/c.promptl')
    git(ana.folder, 'commit', '-q', '-m', 'x')
  }
  await write(ana.folder, 'c', 'first c\n')
  await commit('a', 'second a\n')
  expect(changesOf(await repository.publish())).toEqual(['a', 'c'])
  await write(ana.folder, 'a', 'third a\n')
  await write(ana.folder, 'c', 'second c\n')
  expect(changesOf(await ana.stet(['push', 'a', 'c', '--json']))).toEqual(['a', 'c'])
  expect(await ana.stet(['status', '--check'])).toMatchObject({ code: 0, stdout: '' })

  // A colleague's text is still a conflict, whether it is in the draft or published from elsewhere.
  const ben = await loggedIn()
  const { projectId } = JSON.parse(await readFile(join(ana.folder, 'stet.config.json'), 'utf8'))
  const lock = JSON.parse(await readFile(join(ana.folder, 'stet.lock.json'), 'utf8'))
  await ben.stet(['init', '--project', String(projectId), '--version-uuid', lock.version.uuid])
  await write(ben.folder, 'a', 'a of ben\n')
  expect(await ben.stet(['push'])).toMatchObject({ code: 0 })
  await write(ana.folder, 'a', 'fourth a\n')
  expect(await ana.stet(['push'])).toMatchObject({ code: 6 })
})

test('a linked worktree and a submodule, whose .git is a file, find what CI published', async () => {
  const repository = await Repository.create('files named .git')
  const { ana } = repository
  await write(ana.folder, 'a', 'second a\n')
  repository.commit()
  expect(await repository.publish()).toMatchObject({ code: 0 })
  const around = await temporaryFolder()
  const worktree = join(around, 'worktree')
  git(ana.folder, 'worktree', 'add', '-q', '-b', 'other', worktree)
  const whole = join(around, 'whole')
  await mkdir(whole)
  git(whole, 'init', '-q', '-b', 'main')
  git(whole, 'submodule', '--quiet', 'add', ana.folder, 'sub')
  for (const folder of [worktree, join(whole, 'sub')]) {
    await write(folder, 'a', 'third a\n')
    const person = new Person(folder, server, { STET_API_KEY: server.adminKey, CI: 'true' })
    expect(changesOf(await person.stet(['push', '--dry-run', '--json']))).toEqual(['a'])
  }
})

test('a partial clone fetches nothing, and the conflict says what is missing', async () => {
  const repository = await Repository.create('partial')
  const { ana } = repository
  await write(ana.folder, 'a', 'second a\n')
  repository.commit()
  expect(await repository.publish()).toMatchObject({ code: 0 })
  await write(ana.folder, 'a', 'third a\n')
  repository.commit()
  git(ana.folder, 'config', 'uploadpack.allowFilter', 'true')
  for (const filter of ['blob:none', 'tree:0']) {
    const pushed = await (await repository.clone(`--filter=${filter}`)).stet(['push'])
    expect(pushed, filter).toMatchObject({ code: 6, stderr: expect.stringContaining('without --filter') })
  }
})
