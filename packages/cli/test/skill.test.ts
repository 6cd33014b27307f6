import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'
import { runInProcess } from './support/test-io.ts'

const skill = await readFile(new URL('../skills/stet/SKILL.md', import.meta.url), 'utf8')
const install = (cwd: string, ...flags: string[]) => runInProcess(['skill', 'install', ...flags], { cwd })

/** Splits a command as a shell does. The commands of the skill have no escapes. */
function wordsOf(line: string): string[] {
  return (line.match(/(?:"[^"]*"|[^\s"])+/g) ?? []).map((word) => word.replaceAll('"', ''))
}

const inBlocks = [...skill.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].flatMap(([, block = '']) =>
  block.trim().split(/\n */),
)
const inText = [...skill.replaceAll(/^ *```sh\n.*?^ *```$/gms, '').matchAll(/`(stet [^`]+)`/g)].map(
  ([, one = '']) => one,
)

test.each([...new Set([...inBlocks, ...inText])])('the skill names a command that exists: %s', async (line) => {
  const [program, ...argv] = wordsOf(line.replaceAll(/<\w+>/g, '0b9c7b7e'))
  expect(program).toBe('stet')
  const cwd = await temporaryFolder()
  await writeFile(join(cwd, 'ticket.txt'), 'Where is my order?')
  // Nothing listens on this port: a command line without mistakes fails at its first request, if it sends any.
  const env = { STET_BASE_URL: 'http://127.0.0.1:1', STET_PROJECT_ID: '1', STET_API_KEY: 'stet_x' }
  const { stderr } = await runInProcess([...argv, ...(argv[0] === 'help' ? [] : ['--no-retry'])], { cwd, env })
  expect(stderr).not.toMatch(/Unknown|Too many arguments|Missing required| Use --|must be/)
})

test('the skill has a name, a description and at most 120 lines, and lets an agent run nothing that changes live', () => {
  expect(skill).toMatch(/^---\nname: stet\ndescription: .{50,1024}\n---\n/)
  expect(skill.trimEnd().split('\n').length).toBeLessThanOrEqual(120)
  expect(inBlocks.length).toBeGreaterThanOrEqual(10)
  expect(inBlocks.filter((line) => /publish|rollback|revert|delete|force|import|keys|login/.test(line))).toEqual([])
})

test('skill install writes the skill into the repository, also from a folder below, and says what it did', async () => {
  const cwd = await temporaryFolder()
  const file = join(dirname(cwd), '.claude', 'skills', 'stet', 'SKILL.md')
  const first = await install(cwd)
  expect(first).toMatchObject({ code: 0, stdout: `${file}\n` })
  expect(first.stderr).toContain('Wrote ../.claude/skills/stet/SKILL.md')
  expect(await readFile(file, 'utf8')).toBe(skill)
  expect((await install(cwd)).stderr).toContain('is up to date')
})

test('skill install replaces a changed file only with --force', async () => {
  const cwd = await temporaryFolder()
  const file = join(cwd, 'agents', 'stet', 'SKILL.md')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, 'our own rules\n')
  const refused = await install(cwd, '--dir', 'agents')
  expect(refused).toMatchObject({ code: 6, stdout: '' })
  expect(refused.stderr).toContain('--force')
  expect(await readFile(file, 'utf8')).toBe('our own rules\n')
  const forced = await install(cwd, '--dir', 'agents', '--force', '--json')
  expect(JSON.parse(forced.stdout)).toEqual({ file, status: 'replaced' })
  expect(await readFile(file, 'utf8')).toBe(skill)
})

test('skill install follows no link out of the repository', async () => {
  const [cwd, outside] = await Promise.all([temporaryFolder(), temporaryFolder()])
  await symlink(outside, join(dirname(cwd), '.claude'))
  expect(await install(cwd)).toMatchObject({ code: 2, stdout: '' })
  await expect(readFile(join(outside, 'skills', 'stet', 'SKILL.md'))).rejects.toThrow('ENOENT')
})
