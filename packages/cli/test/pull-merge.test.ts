import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hashText } from '../src/sync/hash.ts'
import { recallText, rememberTexts } from '../src/sync/merge/known-texts.ts'
import { commitAll, git } from './support/git.ts'
import { fileOf, pairOf, read, succeed, write } from './support/pair.ts'
import { startProxy } from './support/proxy.ts'
import { personIn, projectWith, server } from './support/shared-server.ts'
import type { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { ioIn } from './support/test-io.ts'

const lines = (...words: string[]): string => `${words.join('\n')}\n`
const base = lines('one', 'two', 'three', 'four', 'five')
const markers = (mine: string, theirs: string, end = 'live'): string =>
  lines('<<<<<<< file', mine, '=======', theirs, `>>>>>>> ${end}`)

async function conflicts(person: Person, ...argv: string[]): Promise<string> {
  const { code, stderr } = await person.stet(argv)
  expect({ argv, code }, stderr).toEqual({ argv, code: 6 })
  return stderr
}

/** Ana has edited her files; Ben publishes his. */
async function edited(
  name: string,
  mine: Record<string, string>,
  theirs: Record<string, string>,
): Promise<[Person, Person]> {
  const [ana, ben] = await pairOf(name, Object.fromEntries(Object.keys(theirs).map((path) => [path, base])))
  for (const [path, text] of Object.entries(theirs)) await write(ben, path, text)
  await succeed(ben, 'push', '--publish', '--yes')
  for (const [path, text] of Object.entries(mine)) await write(ana, path, text)
  return [ana, ben]
}

/** Ana's folder follows a draft. `push` changes the draft, and `publish` changes live. */
async function inDraft(way: { address: string } = server) {
  const { client, id } = await projectWith({ a: base })
  const { uuid } = await client.versions.create('open')
  const ana = await personIn(id, way)
  await succeed(ana, 'init', '-V', uuid)
  const push = (content: string, to = uuid) =>
    client.versions.push(to, [{ path: 'a', content, status: 'modified' as const }])
  const publish = async (content: string): Promise<void> => {
    const { uuid: other } = await client.versions.create('other')
    await push(content, other)
    await client.versions.publish(other)
  }
  const draft = async () => (await client.prompts.get('a', { versionUuid: uuid })).content
  return { ana, push, publish, draft, uuid }
}

type Entry = { hash?: string; mine?: string; base?: string }

async function changeLock(person: Person, change: (prompts: Record<string, Entry>) => void): Promise<void> {
  const file = join(person.folder, 'stet.lock.json')
  const lock = JSON.parse(await readFile(file, 'utf8'))
  change(lock.prompts)
  await writeFile(file, JSON.stringify(lock))
}

async function liveText(person: Person, path: string): Promise<string> {
  const file = join(person.folder, 'live.json')
  await succeed(person, 'export', '-V', 'live', '--out', file, '--force')
  return JSON.parse(await readFile(file, 'utf8'))[path]
}

const forgetTexts = (person: Person): Promise<void> => rm(join(person.folder, '.cache'), { recursive: true })

const frontMatter = (top: string[], end: string[]): string =>
  lines('---', ...top, 'model: a', 'provider: demo', 'seed: 1', ...end, '---', 'Hi')

test('changes of different lines merge; the others stop a push until they are resolved', async () => {
  const [ana, ben] = await edited(
    'lines',
    { clean: base.replace('one', '1'), both: base.replace('three', 'mine') },
    { clean: base.replace('five', '5'), both: base.replace('three', 'theirs'), other: base.replace('one', 'theirs') },
  )
  expect(await conflicts(ana, 'pull')).toContain('C both: both sides changed the same lines')
  expect(await read(ana, 'clean')).toBe(lines('1', 'two', 'three', 'four', '5'))
  expect(await read(ana, 'both')).toBe(base.replace('three\n', markers('mine', 'theirs')))
  expect(await read(ana, 'other')).toBe(base.replace('one', 'theirs'))
  expect(await conflicts(ana, 'push')).toContain('both  (conflict markers)')
  expect(await conflicts(ana, 'pull')).toContain('C both: the file has conflict markers')
  await write(ana, 'both', base.replace('three', 'mine and theirs'))
  await succeed(ana, 'push', '--publish', '--yes')
  expect(await liveText(ana, 'both')).toBe(base.replace('three', 'mine and theirs'))
  expect(await liveText(ana, 'clean')).toBe(lines('1', 'two', 'three', 'four', '5'))
  await succeed(ben, 'pull')
  expect(await succeed(ben, 'status', '--json')).toContain('"entries":[]')
})

test('a file that is put back to its text before the merge, or to the base, reverts no line of a colleague', async () => {
  const mine = { clean: base.replace('one', '1'), both: base.replace('three', 'mine') }
  const theirs = { clean: base.replace('five', '5'), both: base.replace('three', 'theirs') }
  const [ana] = await edited('put back', mine, theirs)
  await conflicts(ana, 'pull')
  for (const [path, text] of Object.entries(mine)) await write(ana, path, text)
  expect(await conflicts(ana, 'push')).toContain('both  lines 3-7')
  await conflicts(ana, 'pull')
  expect(await read(ana, 'clean')).toBe(lines('1', 'two', 'three', 'four', '5'))
  expect(await read(ana, 'both')).toBe(base.replace('three\n', markers('mine', 'theirs')))
  for (const path of Object.keys(mine)) await write(ana, path, base)
  expect(JSON.parse(await succeed(ana, 'push', '--json')).changes).toEqual([])
  await succeed(ana, 'pull')
  expect(await read(ana, 'both')).toBe(theirs.both)
})

test.each<[string, (person: Person) => Promise<void>]>([
  ['a lost lock', ({ folder }) => rm(join(folder, 'stet.lock.json'))],
  ['a lost entry', (person) => changeLock(person, (prompts) => delete prompts['a'])],
  [
    'an unknown base',
    (person) => changeLock(person, (prompts) => Object.assign(prompts['a'] ?? {}, { hash: 'f'.repeat(64) })),
  ],
])('%s reverts no line of a colleague', async (name, harm) => {
  const theirs = base.replace('five', 'theirs')
  const [ana] = await edited(name, { a: base.replace('one', 'mine') }, { a: theirs })
  await harm(ana)
  await conflicts(ana, 'push')
  await conflicts(ana, 'pull')
  expect(await read(ana, 'a')).toBe(
    lines(
      '<<<<<<< file',
      'mine',
      'two',
      'three',
      'four',
      'five',
      '=======',
      'one',
      'two',
      'three',
      'four',
      'theirs',
      '>>>>>>> live',
    ),
  )
  await harm(ana)
  await conflicts(ana, 'push')
  expect(await liveText(ana, 'a')).toBe(theirs)
})

test('the base comes from git, from the cache, or from the server', async () => {
  const mine = base.replace('one', '1')
  const theirs = base.replace('five', '5')
  const merged = lines('1', 'two', 'three', 'four', '5')
  const [ana, ben] = await edited('bases', { a: mine }, { a: theirs })
  await forgetTexts(ana)
  await succeed(ana, 'pull')
  expect(await read(ana, 'a')).toBe(merged)
  await succeed(ana, 'push')

  // No version has the draft's earlier text any more.
  await succeed(
    ben,
    'versions',
    'use',
    JSON.parse(await readFile(join(ana.folder, 'stet.lock.json'), 'utf8')).version.uuid,
    '--pull',
  )
  const next = async (line: string): Promise<void> => {
    await succeed(ben, 'pull')
    await write(ben, 'a', (await read(ben, 'a')).replace('five', line).replace(/^5.*/m, line))
    await succeed(ben, 'push')
  }
  await next('5 of ben')
  await write(ana, 'a', merged.replace('1', '1 of ana'))
  await succeed(ana, 'pull')
  expect(await read(ana, 'a')).toBe(lines('1 of ana', 'two', 'three', 'four', '5 of ben'))
  await succeed(ana, 'push')

  await rm(join(ana.folder, '.git'), { recursive: true })
  git(ana.folder, 'init', '-q', '-b', 'main')
  commitAll(ana.folder)
  await next('5 again')
  await write(ana, 'a', (await read(ana, 'a')).replace('1 of ana', '1 again'))
  await rm(join(ana.folder, '.cache'), { recursive: true, force: true })
  await succeed(ana, 'pull')
  expect(await read(ana, 'a')).toBe(lines('1 again', 'two', 'three', 'four', '5 again'))
  await succeed(ana, 'push')

  await next('5 at last')
  await write(ana, 'a', (await read(ana, 'a')).replace('1 again', '1 at last'))
  await forgetTexts(ana)
  expect(await conflicts(ana, 'pull')).toContain('C a: the text that both sides changed was not found')
})

test('a merge can be aborted, and a conflict settled with either side', async () => {
  const paths = ['a', 'b', 'c']
  const all = (text: string) => Object.fromEntries(paths.map((path) => [path, text]))
  const [mine, theirs] = [base.replace('three', 'mine'), base.replace('three', 'theirs')]
  const [ana] = await edited('settled', all(mine), all(theirs))
  await conflicts(ana, 'pull')
  await succeed(ana, 'pull', '--abort', '--yes')
  for (const path of paths) expect(await read(ana, path)).toBe(mine)
  await conflicts(ana, 'push')
  await conflicts(ana, 'pull')
  await succeed(ana, 'pull', 'a', '--ours')
  await succeed(ana, 'pull', 'b', '--theirs')
  expect([await read(ana, 'a'), await read(ana, 'b')]).toEqual([mine, theirs])
  await forgetTexts(ana)
  expect(await conflicts(ana, 'pull', 'c', '--ours')).toContain("the file's text before the merge was not found")
  expect(await conflicts(ana, 'pull', '--abort', '--yes')).toContain("the file's text before the merge was not found")
  await succeed(ana, 'pull', 'c', '--theirs')
  expect(JSON.parse(await succeed(ana, 'push', '--json')).changes).toMatchObject([{ path: 'a' }])
})

test("a draft's file that is put back to its text before a merge with live reverts no line of live", async () => {
  const [ana, ben] = await pairOf('put back in a draft', { a: base })
  const mine = base.replace('one', '1')
  await write(ana, 'a', mine)
  await succeed(ana, 'push')
  await write(ben, 'a', base.replace('five', '5'))
  await succeed(ben, 'push', '--publish', '--yes')
  await succeed(ana, 'pull')
  await write(ana, 'a', mine)
  expect(JSON.parse(await succeed(ana, 'push', '--json')).changes).toEqual([])
  await conflicts(ana, 'publish', '--yes')
  await succeed(ana, 'pull')
  await write(ana, 'a', mine)
  await succeed(ana, 'pull')
  await succeed(ana, 'push', '--publish', '--yes')
  expect(await liveText(ana, 'a')).toBe(lines('1', 'two', 'three', 'four', '5'))
})

test('a file in conflict with the draft and with live gets its own text with --ours', async () => {
  const { ana, push, publish } = await inDraft()
  const mine = base.replace('three', 'mine')
  await write(ana, 'a', mine)
  await push(base.replace('three', 'theirs'))
  await conflicts(ana, 'pull')
  expect(await read(ana, 'a')).toBe(base.replace('three\n', markers('mine', 'theirs', 'draft')))
  await publish(base.replace('three', 'of live'))
  await succeed(ana, 'pull', '--ours')
  expect(await read(ana, 'a')).toBe(mine)
  await succeed(ana, 'push', '--publish', '--yes')
  expect(await liveText(ana, 'a')).toBe(mine)
})

test('an edit during a pull stays in the file, and the next pull merges it', async () => {
  const way = await startProxy(server.address)
  const { ana, push, publish } = await inDraft(way)
  const typeDuringPull = (text: string): void => {
    way.before = async (line) => {
      if (!line.includes('/diff')) return
      way.before = undefined
      await write(ana, 'a', text)
    }
  }
  let there = base
  for (const mine of ['one', '1']) {
    const before = there.replace('one', mine)
    const typed = before.replace('three', '3')
    there = base.replace('five', `5 against ${mine}`)
    await write(ana, 'a', before)
    await push(there)
    typeDuringPull(typed)
    const { code, stderr } = await ana.stet(['pull'])
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('a changed during the pull') })
    expect(await read(ana, 'a')).toBe(typed)
    await succeed(ana, 'pull')
    expect(await read(ana, 'a')).toBe(there.replace('one', mine).replace('three', '3'))
    await succeed(ana, 'pull', 'a', '--theirs')
  }
  await publish(base.replace('one', 'live'))
  const pushed = await read(ana, 'a')
  typeDuringPull(pushed.replace('three', '3'))
  expect(await conflicts(ana, 'pull')).toContain('a: its file cannot be written: it changed during the pull')
  expect(await read(ana, 'a')).toBe(pushed.replace('three', '3'))
  await write(ana, 'a', pushed)
  await succeed(ana, 'pull')
  expect(await read(ana, 'a')).toBe(pushed.replace('one', 'live'))
  await way.stop()
})

test("a merge with live that a colleague pushed does not count in a file without live's lines", async () => {
  const { ana, push, publish } = await inDraft()
  const mine = base.replace('one', '1')
  await write(ana, 'a', mine)
  await succeed(ana, 'push')
  await publish(base.replace('five', '5'))
  await succeed(ana, 'pull')
  await push(await read(ana, 'a'))
  await succeed(ana, 'pull')
  await write(ana, 'a', mine)
  expect(JSON.parse(await succeed(ana, 'push', '--json')).changes).toEqual([])
})

test('after a merge, a line of seven equal signs is a heading, except between the other two markers', async () => {
  const heading = base.replace('three', 'Tickets\n=======')
  const [ana] = await edited(
    'heading',
    { a: heading, b: heading },
    { a: base.replace('three', '3'), b: base.replace('five', '5') },
  )
  await conflicts(ana, 'pull')
  expect(await read(ana, 'a')).toBe(base.replace('three\n', markers('Tickets\n=======', '3')))
  expect(await conflicts(ana, 'push')).toContain('  a  (conflict markers)')
  expect(await conflicts(ana, 'push')).not.toContain('  b  ')
  await write(ana, 'a', heading.replace('Tickets', '3 tickets'))
  await succeed(ana, 'push', '--publish', '--yes')
  expect(await liveText(ana, 'a')).toBe(heading.replace('Tickets', '3 tickets'))
  expect(await liveText(ana, 'b')).toBe(heading.replace('five', '5'))
})

test('a merge keeps the line ends of the file', async () => {
  const [mine, theirs] = [
    base.replace('three', 'mine'),
    { a: base.replace('five', '5'), b: base.replace('three', '3') },
  ]
  const windows = (text: string): string => text.replaceAll('\n', '\r\n')
  const [ana] = await edited('line ends', { a: windows(mine), b: windows(mine) }, theirs)
  await conflicts(ana, 'pull')
  expect(await read(ana, 'a')).toBe(windows(mine.replace('five', '5')))
  expect(await read(ana, 'b')).toBe(windows(base.replace('three\n', markers('mine', '3'))))
  await succeed(ana, 'pull', 'b', '--ours')
  expect(await read(ana, 'b')).toBe(windows(mine))
})

test('a push to a draft merges changes of other lines, and writes the merged text into the file and the lock', async () => {
  const { ana, push, draft } = await inDraft()
  const merges = async (mine: string, merged: string): Promise<void> => {
    await write(ana, 'a', mine)
    const { changes } = JSON.parse(await succeed(ana, 'push', '--json'))
    expect(changes).toMatchObject([{ path: 'a', status: 'modified', hash: hashText(merged), merged: true }])
    expect([await draft(), await read(ana, 'a')]).toEqual([merged, merged])
    expect(JSON.parse(await succeed(ana, 'status', '--json')).entries).toEqual([])
  }
  await push(base.replace('five', '5'))
  await merges(base.replace('one', '1'), lines('1', 'two', 'three', 'four', '5'))
  // The server no longer has the base of this file, but the cache does.
  await push(lines('1', 'two', '3', 'four', '5'))
  await merges(lines('1', 'two', 'three', 'four', 'five of ana'), lines('1', 'two', '3', 'four', 'five of ana'))

  const theirs = lines('1 again', 'two', '3', 'four', 'five of ana')
  await push(theirs)
  await forgetTexts(ana)
  await write(ana, 'a', lines('1', 'two', '3', 'four', '5'))
  expect(await conflicts(ana, 'push')).toContain('nothing was sent')
  expect(await draft()).toBe(theirs)
})

test('a push whose lines overlap names those that pull puts between markers, and writes nothing', async () => {
  const { ana, push, draft } = await inDraft()
  const [mine, theirs] = [base.replace('three', 'mine'), base.replace('three', 'theirs')]
  await push(theirs)
  await write(ana, 'a', mine)
  const lock = await readFile(join(ana.folder, 'stet.lock.json'), 'utf8')
  expect(await conflicts(ana, 'push')).toContain('  a  lines 3-7')
  expect([await draft(), await read(ana, 'a')]).toEqual([theirs, mine])
  expect(await readFile(join(ana.folder, 'stet.lock.json'), 'utf8')).toBe(lock)
  await conflicts(ana, 'pull')
  expect(await read(ana, 'a')).toBe(base.replace('three\n', markers('mine', 'theirs', 'draft')))
})

test.each<[string, (person: Person, sent: string) => Promise<string | undefined>]>([
  [
    'an edit',
    async (ana, sent) => {
      await write(ana, 'a', sent.replace('three', '3'))
      return lines('1', 'two', '3', 'four', '5')
    },
  ],
  [
    'a deletion',
    async (ana) => {
      await rm(fileOf(ana, 'a'))
      return undefined
    },
  ],
])('%s during a push that merges stays, and the next push reverts nothing', async (_, change) => {
  const way = await startProxy(server.address)
  const { ana, push, draft } = await inDraft(way)
  await push(base.replace('five', '5'))
  const sent = base.replace('one', '1')
  await write(ana, 'b', base)
  await write(ana, 'a', sent)
  let next: string | undefined
  way.before = async (line) => {
    if (!line.includes('/push')) return
    way.before = undefined
    next = await change(ana, sent)
  }
  expect((await ana.stet(['push'])).stderr).toContain('Edited during the push')
  const merged = lines('1', 'two', 'three', 'four', '5')
  expect(await draft()).toBe(merged)
  if (next === undefined) {
    await conflicts(ana, 'push', '--delete')
    expect(await draft()).toBe(merged)
  } else {
    await succeed(ana, 'push')
    expect([await draft(), await read(ana, 'a')]).toEqual([next, next])
  }
  await way.stop()
})

test('a push to a draft with a wrong base or without a lock reverts no line of a colleague', async () => {
  const { ana, push, draft, uuid } = await inDraft()
  const theirs = base.replace('five', 'theirs')
  await push(theirs)
  await write(ana, 'a', base.replace('one', 'mine'))
  await changeLock(ana, (prompts) => Object.assign(prompts['a'] ?? {}, { hash: 'f'.repeat(64) }))
  await conflicts(ana, 'push')
  await changeLock(ana, (prompts) => delete prompts['a'])
  await conflicts(ana, 'push')
  await rm(join(ana.folder, 'stet.lock.json'))
  await conflicts(ana, 'push', '--draft', uuid)
  expect(await draft()).toBe(theirs)
})

test('the markers name the published version that the folder follows', async () => {
  const [ana, ben] = await pairOf('a published version', { a: base })
  for (const line of ['2', '3']) {
    await write(ben, 'a', base.replace('three', line))
    await succeed(ben, 'push', '--publish', '--yes')
  }
  const { versions } = JSON.parse(await succeed(ben, 'versions', 'list', '--json'))
  const second = versions.find(({ version }: { version: number }) => version === 2)
  await write(ana, 'a', base.replace('three', 'mine'))
  await conflicts(ana, 'pull', '-V', second.uuid)
  expect(await read(ana, 'a')).toBe(base.replace('three\n', markers('mine', '2', 'v2')))
})

test('lost bases of many prompts cost one request for each version', async () => {
  const paths = ['a', 'b', 'c', 'd']
  const all = (text: string) => Object.fromEntries(paths.map((path) => [path, text]))
  const way = await startProxy(server.address)
  const { client, id } = await projectWith(all(base))
  const ana = await personIn(id, way)
  await succeed(ana, 'init')
  const { uuid } = await client.versions.create('next')
  const theirs = base.replace('five', '5')
  await client.versions.push(
    uuid,
    paths.map((path) => ({ path, content: theirs, status: 'modified' as const })),
  )
  await client.versions.publish(uuid)
  for (const path of paths) await write(ana, path, base.replace('one', '1'))
  await forgetTexts(ana)
  way.seen.length = 0
  await succeed(ana, 'pull')
  for (const path of paths) expect(await read(ana, path)).toBe(theirs.replace('one', '1'))
  expect(way.seen.filter((line) => /documents|prompts/.test(line))).toHaveLength(2)
  await way.stop()
})

test('a merge that would not compile is a conflict', async () => {
  const [ana, ben] = await pairOf('keys', { a: frontMatter([], []) })
  await write(ben, 'a', frontMatter([], ['temperature: 1']))
  await succeed(ben, 'push', '--publish', '--yes')
  await write(ana, 'a', frontMatter(['temperature: 0'], []))
  await conflicts(ana, 'pull')
  expect(await read(ana, 'a')).toContain('<<<<<<< file\ntemperature: 0\n')
})

test('cached texts are checked, and deleted after 30 days', async () => {
  const io = ioIn({ cwd: await temporaryFolder() })
  const folder = join(io.homeDir, '.cache', 'stet', 'texts')
  await rememberTexts(['old', 'new'], io)
  expect(await recallText(hashText('new'), io)).toBe('new')
  expect(await recallText(`../texts/${hashText('new')}`, io)).toBeUndefined()
  await writeFile(join(folder, hashText('new')), 'damaged')
  expect(await recallText(hashText('new'), io)).toBeUndefined()
  const past = (Date.now() - 31 * 24 * 60 * 60 * 1000) / 1000
  await utimes(join(folder, hashText('old')), past, past)
  await rememberTexts(['new'], io)
  expect(await readdir(folder)).toEqual([hashText('new')])
  await rm(folder, { recursive: true })
  await writeFile(folder, 'in the way')
  await rememberTexts(['new'], io)
})
