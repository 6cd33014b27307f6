import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stet } from '@stet/sdk'
import { expect, test } from 'vitest'
import { personIn, projectWith } from './support/shared-server.ts'
import type { Person } from './support/stet.ts'

const prompts = { a: 'a\n', b: 'b\n', c: 'c\n' }

/** A project with three live prompts, and a folder that has pulled them. */
async function pulled(): Promise<{ client: Stet; person: Person; folder: string; live: () => Promise<string[]> }> {
  const { client, id } = await projectWith(prompts)
  const person = await personIn(id)
  await mkdir(join(person.folder, '.git'))
  expect(await person.stet(['init'])).toMatchObject({ code: 0 })
  const live = async () => (await client.prompts.list({ versionUuid: 'live' })).map(({ path }) => path)
  return { client, person, folder: join(person.folder, 'prompts'), live }
}

const absences: Record<string, (folder: string) => Promise<void>> = {
  'is missing': (folder) => rm(folder, { recursive: true }),
  'is empty': (folder) => rm(folder, { recursive: true }).then(() => void mkdir(folder)),
  'contains no prompt that is included': (folder) =>
    writeFile(join(folder, '..', 'stet.config.json'), JSON.stringify({ include: ['typo/**'] })),
}

test.each(Object.keys(absences))(
  'if the prompts folder %s, check, status and push exit with 2 and send nothing',
  async (name) => {
    const { client, person, folder, live } = await pulled()
    await absences[name]?.(folder)
    for (const argv of [
      ['check', '--local'],
      ['check'],
      ['status'],
      ['status', '--check'],
      ['status', '--offline'],
      ['push'],
      ['push', '--dry-run'],
      ['push', '--new', '--yes'],
      ['push', '--publish', '--yes'],
      ['push', '--delete', '--publish', '--yes'],
    ]) {
      const { code, stdout, stderr } = await person.stet(argv)
      expect({ code, stdout, stderr }, argv.join(' ')).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('No prompt files in prompts'),
      })
    }
    expect(await live()).toEqual(['a', 'b', 'c'])
    expect(await client.versions.list()).toHaveLength(1)
    for (const [argv, code] of [
      [['check', '--local'], 0],
      [['check'], 3],
      [['status'], 0],
      [['status', '--check'], 3],
    ] as const) {
      expect(await person.stet([...argv, '--allow-empty']), argv.join(' ')).toMatchObject({ code })
    }
    if (name !== 'contains no prompt that is included')
      expect(await person.stet(['pull', 'a'])).toMatchObject({ code: 0 })
  },
)

test('--yes deletes no prompt whose file is absent: a push leaves it, and --publish sends nothing', async () => {
  const { client, person, folder, live } = await pulled()
  await rm(join(folder, 'b.promptl'))
  await writeFile(join(folder, 'a.promptl'), 'edited\n')
  const refused = await person.stet(['push', '--publish', '--yes'])
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('--delete') })
  expect(await client.versions.list()).toHaveLength(1)
  for (const flags of [['--yes'], ['--yes', '--dry-run']]) {
    const pushed = await person.stet(['push', '--json', ...flags])
    expect(pushed).toMatchObject({ code: 0, stderr: expect.stringContaining('The files of b are absent') })
    if (flags.length === 1) expect(JSON.parse(pushed.stdout).changes).toMatchObject([{ path: 'a' }])
    else expect(JSON.parse(pushed.stdout).changes).toEqual([])
  }
  expect(await person.stet(['push', '--delete', '--publish', '--yes'])).toMatchObject({ code: 0 })
  expect(await live()).toEqual(['a', 'c'])
})

test('--yes deletes no file whose prompt was deleted on the server', async () => {
  const { client, person, folder } = await pulled()
  const draft = await client.versions.create('without b')
  await client.versions.push(draft.uuid, [{ path: 'b', status: 'deleted' }])
  await client.versions.publish(draft.uuid)
  const kept = await person.stet(['pull', '--yes'])
  expect(kept).toMatchObject({ code: 0, stderr: expect.stringContaining('--prune deletes them') })
  expect(await readdir(folder)).toContain('b.promptl')
  expect(await person.stet(['pull', '--prune'])).toMatchObject({ code: 0 })
  expect(await readdir(folder)).not.toContain('b.promptl')
})

test('a person at a terminal is asked with a list of the prompts, even with --yes', async () => {
  const { person, folder, live } = await pulled()
  await rm(join(folder, 'b.promptl'))
  await rm(join(folder, 'c.promptl'))
  const terminal = person.sitDown(['push', '--publish', '--yes'])
  await terminal.shows('Delete these prompts, whose files are absent?')
  await terminal.shows('b')
  await terminal.shows('c')
  terminal.type('y')
  expect(await terminal.ended).toBe(0)
  expect(await live()).toEqual(['a'])
})
